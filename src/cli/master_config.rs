//! Config file of `master` and policy file of its key authorization, as TOML.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    num::{NonZeroU16, NonZeroU32},
    path::PathBuf,
    str::FromStr,
};

use serde::{Deserialize, de::DeserializeOwned};

use super::{address::own_address, master::MasterSettings};
use crate::{
    cvar::Networks,
    master::{
        AddressMapping, Answer, AuthorizationPolicy, AuthorizationRule, GamePolicy, MotdRule,
        UpdateRule,
    },
    model::config_fault::{form_fault, value_fault},
};

/// Longest message of the day, in bytes.
const MAX_MOTD: usize = 255;

/// Config file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConfigFile {
    port: Option<NonZeroU16>,
    more_ports: Vec<NonZeroU16>,
    ip4: Option<OptionalIp<Ipv4Addr>>,
    ip6: Option<OptionalIp<Ipv6Addr>>,
    allow_loopback: bool,
    max_servers: Option<NonZeroU32>,
    max_servers_per_address: Option<u32>,
    flood_protection: Option<u32>,
    answer_kib_per_second: Option<u32>,
    accept_games: Vec<GameName>,
    reject_games: Vec<GameName>,
    games: BTreeMap<GameName, GameName>,
    map_addresses: Vec<Mapping>,
    allow: Option<NetworkList>,
    deny: NetworkList,
    state: Option<PathBuf>,
    http: Option<OwnAddress>,
    console: Option<PathBuf>,
    verbose: bool,
    motd: Vec<Motd>,
    update: Vec<Update>,
    authorize: Option<AuthorizeFile>,
}

/// Policy file, and table `authorize` of the config file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AuthorizeFile {
    with_key: Verdict,
    without_key: Verdict,
    rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    key: Option<String>,
    networks: Option<NetworkList>,
    game: Option<String>,
    answer: Verdict,
    #[serde(default)]
    reason: Text,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Accept,
    Deny,
    Demo,
    #[default]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Motd {
    #[serde(default)]
    version: String,
    text: Text,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    #[serde(default)]
    version: String,
    #[serde(default)]
    platform: String,
    file: Text,
    #[serde(default)]
    message: Text,
}

impl ConfigFile {
    /// Parses the file. `path` is for errors.
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, String> {
        parse(path, text)
    }

    /// Returns the settings.
    pub(super) fn settings(self) -> MasterSettings {
        let mut settings = MasterSettings {
            state: self.state,
            http: self.http.map(|OwnAddress(address)| address),
            console: self.console,
            verbose: self.verbose,
            ..MasterSettings::default()
        };
        let size = |number: u32| number as usize;
        let options = &mut settings.options;
        options.allow_loopback = self.allow_loopback;
        if let Some(servers) = self.max_servers {
            options.max_servers = size(servers.get());
        }
        if let Some(servers) = self.max_servers_per_address {
            options.max_servers_per_address = size(servers);
        }
        options.flood_protection = self.flood_protection.unwrap_or(options.flood_protection);
        if let Some(kib) = self.answer_kib_per_second {
            options.answer_bytes_per_second = u64::from(kib) << 10;
        }
        let names = |names: Vec<GameName>| names.into_iter().map(|name| name.0).collect();
        options.games = GamePolicy {
            accept: names(self.accept_games),
            reject: names(self.reject_games),
            declared: self.games.into_iter().map(|(name, word)| (name.0, word.0)).collect(),
        };
        options.mappings = self.map_addresses.into_iter().map(|mapping| mapping.0).collect();
        options.allow = self.allow.map(|list| list.0);
        options.deny = self.deny.0;
        let motd = |rule: Motd| MotdRule { version: rule.version, text: rule.text.0 };
        options.motd = self.motd.into_iter().map(motd).collect();
        let update = |rule: Update| UpdateRule {
            version: rule.version,
            platform: rule.platform,
            file: rule.file.0,
            message: rule.message.0,
        };
        options.updates = self.update.into_iter().map(update).collect();
        options.authorization = self.authorize.map(AuthorizeFile::policy);
        if let Some(port) = self.port {
            settings.ports = vec![port.get()];
        }
        settings.ports.extend(self.more_ports.iter().map(|port| port.get()));
        settings.ip4 = self.ip4.map_or(settings.ip4, |ip| ip.0);
        settings.ip6 = self.ip6.map_or(settings.ip6, |ip| ip.0);
        settings
    }
}

impl AuthorizeFile {
    /// Parses the file. `path` is for errors.
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, String> {
        parse(path, text)
    }

    /// Returns the policy.
    pub(super) fn policy(self) -> AuthorizationPolicy {
        let rule = |rule: Rule| AuthorizationRule {
            key: rule.key,
            networks: rule.networks.map(|list| list.0),
            game: rule.game,
            answer: rule.answer.into(),
            reason: rule.reason.0,
        };
        AuthorizationPolicy {
            rules: self.rule.into_iter().map(rule).collect(),
            with_key: self.with_key.into(),
            without_key: self.without_key.into(),
        }
    }
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accept => Self::Accept,
            Verdict::Deny => Self::Deny,
            Verdict::Demo => Self::Demo,
            Verdict::Unknown => Self::Unknown,
        }
    }
}

/// Name of a game, or word of a heartbeat.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub(super) struct GameName(pub(super) String);

impl TryFrom<String> for GameName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match GamePolicy::check_name(&name) {
            Ok(()) => Ok(Self(name)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Address to listen on; empty for none.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String", bound = "T: FromStr + Family")]
struct OptionalIp<T>(Option<T>);

/// Address family, for errors.
trait Family {
    const EXPECTED: &'static str;
}

impl Family for Ipv4Addr {
    const EXPECTED: &'static str = "an IPv4 address, or \"\" for none";
}

impl Family for Ipv6Addr {
    const EXPECTED: &'static str = "an IPv6 address, or \"\" for none";
}

impl<T: FromStr + Family> TryFrom<String> for OptionalIp<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let ip = text
            .parse()
            .map_err(|_| format!("invalid address '{text}' (expected {})", T::EXPECTED))?;
        Ok(Self(Some(ip)))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct OwnAddress(SocketAddr);

impl TryFrom<String> for OwnAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        own_address(&text).map(Self).map_err(|error| format!("invalid address '{text}' ({error})"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Mapping(AddressMapping);

impl TryFrom<String> for Mapping {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: crate::master::MappingError| error.to_string())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
struct NetworkList(Networks);

impl TryFrom<Vec<String>> for NetworkList {
    type Error = String;

    fn try_from(parts: Vec<String>) -> Result<Self, String> {
        let is_invalid = |part: &&String| Networks::parse(part).is_none();
        if let Some(part) = parts.iter().find(is_invalid) {
            let expected = "an address such as 192.0.2.0/24, private or any";
            return Err(format!("invalid network '{part}' (expected {expected})"));
        }
        Ok(Self(Networks::parse(&parts.join(" ")).unwrap_or_default()))
    }
}

/// Text that a packet can carry.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "String")]
struct Text(String);

impl TryFrom<String> for Text {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_legal = text.len() <= MAX_MOTD && !text.chars().any(|c| c.is_control() || c == '"');
        if is_legal {
            return Ok(Self(text));
        }
        Err(format!(
            "invalid text (expected at most {MAX_MOTD} characters without control characters and quotes)"
        ))
    }
}

/// Parses a TOML file; errors name file and line.
fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let (line, what) = match toml::de::DeTable::parse(text) {
            Ok(_) => value_fault(text, error.span(), error.message()),
            Err(error) => form_fault(text, error.span(), error.message()),
        };
        format!("{path}:{line}: {what}")
    })
}
