//! Options of `master`: config file, then options; later values override earlier ones.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use clap::Args;

use super::number::{ANY_U32, number};
use super::{
    address::{own_address, own_ip},
    bind::BindAddresses,
    master_config::{AuthorizeFile, ConfigFile, GameName},
};
use crate::master::{AddressMapping, GamesError, MasterOptions};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd master                                       public master on UDP 27950
  fragd master --allow-loopback --verbose            master for tests on this machine
  fragd master --bind 192.0.2.1 --port 27951         one address of this machine
  fragd master --bind 192.0.2.1 --bind 2001:db8::1   one of each family
  fragd master --accept-game Quake3Arena --state /var/lib/fragd/master.state
  fragd master --game Warsow=Warsow --reject-game DpmasterTest
  fragd master --map-address 192.168.1.5=203.0.113.7
  fragd master --config master.toml --authorize keys.toml

Point servers to it with  fragd serve +set dedicated 2 +set sv_master1 HOST  and clients with \
+set sv_master1 HOST. config/master.toml explains every key of the config file.

Exit codes: 0 stopped, 1 failure, 2 usage or config error.";

/// Default port.
const PORT: u16 = 27_950;

/// Options of `master`.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct MasterArguments {
    /// Config file (TOML); options override its values
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// UDP port [default: 27950]
    #[arg(long, value_name = "N", value_parser = number::<u16>(1..=65535))]
    pub port: Option<u16>,
    /// Listen on this address only; repeat for IPv4 and IPv6 [default: all addresses]
    #[arg(long, value_name = "IP", value_parser = own_ip)]
    pub bind: Vec<IpAddr>,
    /// List servers of this machine by their loopback address
    #[arg(long)]
    pub allow_loopback: bool,
    /// Maximum number of servers [default: 4096]
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=1_000_000))]
    pub max_servers: Option<u32>,
    /// Maximum servers per IPv4 address or IPv6 /64, twice per /56, four times per /48; 0 disables it [default: 32]
    #[arg(long, value_name = "N", value_parser = number::<u32>(ANY_U32))]
    pub max_servers_per_address: Option<u32>,
    /// Ignore list requests beyond N from one address; one more every 3 s; 0 disables it [default: 16]
    #[arg(long, value_name = "N", value_parser = number::<u32>(ANY_U32))]
    pub flood_protection: Option<u32>,
    /// List only this game, by its name in infoResponse; may be repeated
    #[arg(long, value_name = "NAME", value_parser = game_name)]
    pub accept_game: Vec<String>,
    /// Do not list this game; may be repeated
    #[arg(long, value_name = "NAME", value_parser = game_name)]
    pub reject_game: Vec<String>,
    /// Declare a game and the word of its heartbeats; may be repeated
    #[arg(long, value_name = "NAME=HEARTBEAT", value_parser = declared_game)]
    pub game: Vec<(String, String)>,
    /// List servers of address FROM as TO, e.g. behind the same NAT; may be repeated
    #[arg(long, value_name = "FROM[:PORT]=TO[:PORT]")]
    pub map_address: Vec<AddressMapping>,
    /// Answer CD-key authorization by the policy in FILE (TOML)
    #[arg(long, value_name = "FILE")]
    pub authorize: Option<PathBuf>,
    /// Keep the list in FILE across restarts
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Serve the list as a web page, /servers.json and /metrics on this address
    #[arg(long, value_name = "IP:PORT", value_parser = own_address)]
    pub http: Option<SocketAddr>,
    /// Unix socket on which fragd console attaches, for the owner of the process
    #[arg(long, value_name = "PATH")]
    pub console: Option<PathBuf>,
    /// Log every server that is listed or expires, and every dropped datagram
    #[arg(long, short)]
    pub verbose: bool,
}

/// Everything that a master needs, from config file and options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterSettings {
    /// Options of the node.
    pub options: MasterOptions,
    /// UDP ports. The first is the master's own.
    pub ports: Vec<u16>,
    /// IPv4 address to listen on, if any.
    pub ip4: Option<Ipv4Addr>,
    /// IPv6 address to listen on, if any.
    pub ip6: Option<Ipv6Addr>,
    /// State file.
    pub state: Option<PathBuf>,
    /// Address of the web page.
    pub http: Option<SocketAddr>,
    /// Socket of consoles.
    pub console: Option<PathBuf>,
    /// Whether to log at debug level.
    pub verbose: bool,
}

impl MasterArguments {
    /// Builds the settings. Files are given as name, for errors, and text.
    ///
    /// # Errors
    /// The invalid value with file, line and what is expected.
    pub fn build(
        &self,
        config: Option<(&str, &str)>,
        authorize: Option<(&str, &str)>,
    ) -> Result<MasterSettings, String> {
        let file = match config {
            None => ConfigFile::default(),
            Some((path, text)) => ConfigFile::parse(path, text)?,
        };
        let mut settings = file.settings();
        if let Some((path, text)) = authorize {
            settings.options.authorization = Some(AuthorizeFile::parse(path, text)?.policy());
        }
        self.apply(&mut settings);
        settings.options.ports = u16::try_from(settings.ports.len()).unwrap_or(u16::MAX);
        settings.options.games.check().map_err(|error: GamesError| error.to_string())?;
        Ok(settings)
    }

    fn apply(&self, settings: &mut MasterSettings) {
        let options = &mut settings.options;
        let size = |number: Option<u32>, default| number.map_or(default, |number| number as usize);
        options.allow_loopback |= self.allow_loopback;
        options.max_servers = size(self.max_servers, options.max_servers);
        options.max_servers_per_address =
            size(self.max_servers_per_address, options.max_servers_per_address);
        options.flood_protection = self.flood_protection.unwrap_or(options.flood_protection);
        options.games.accept.extend(self.accept_game.iter().cloned());
        options.games.reject.extend(self.reject_game.iter().cloned());
        options.games.declared.extend(self.game.iter().cloned());
        options.mappings.extend(&self.map_address);
        if let Some(port) = self.port {
            settings.ports[0] = port;
        }
        if let Some(BindAddresses { ip4, ip6 }) = BindAddresses::of(&self.bind) {
            (settings.ip4, settings.ip6) = (ip4, ip6);
        }
        let first = settings.ports[0];
        let mut seen = Vec::new();
        settings.ports.retain(|port| {
            !seen.contains(port) && {
                seen.push(*port);
                true
            }
        });
        debug_assert_eq!(settings.ports.first(), Some(&first));
        settings.state = self.state.clone().or_else(|| settings.state.take());
        settings.http = self.http.or(settings.http);
        settings.console = self.console.clone().or_else(|| settings.console.take());
        settings.verbose |= self.verbose;
    }
}

impl Default for MasterSettings {
    fn default() -> Self {
        Self {
            options: MasterOptions::default(),
            ports: vec![PORT],
            ip4: Some(Ipv4Addr::UNSPECIFIED),
            ip6: Some(Ipv6Addr::UNSPECIFIED),
            state: None,
            http: None,
            console: None,
            verbose: false,
        }
    }
}

/// Parses the name of a game.
fn game_name(text: &str) -> Result<String, String> {
    GameName::try_from(text.to_owned()).map(|name| name.0)
}

/// Parses a declared game.
fn declared_game(text: &str) -> Result<(String, String), String> {
    let (name, word) =
        text.split_once('=').ok_or("expected NAME=HEARTBEAT, e.g. Warsow=Warsow-1")?;
    Ok((game_name(name)?, game_name(word)?))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::master::Answer;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        master: MasterArguments,
    }

    fn arguments(line: &str) -> Result<MasterArguments, String> {
        let words = std::iter::once("fragd").chain(line.split_whitespace());
        Line::try_parse_from(words).map(|line| line.master).map_err(|error| error.to_string())
    }

    fn settings(line: &str, config: &str) -> Result<MasterSettings, String> {
        arguments(line)?.build(Some(("m.toml", config)), None)
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let settings = settings("", "").unwrap();
        assert_eq!(settings, MasterSettings::default());
        assert_eq!(settings.ports, [27_950]);
        let options = settings.options;
        assert_eq!((options.max_servers, options.max_servers_per_address), (4096, 32));
        assert_eq!((options.flood_protection, options.allow_loopback), (16, false));
    }

    #[test]
    fn example_config_has_the_defaults_and_valid_comments() {
        let example = include_str!("../../config/master.toml");
        assert_eq!(settings("", example), Ok(MasterSettings::default()));
        let is_key =
            |line: &&str| line.contains(" = ") || line.trim_start_matches("# ").starts_with('[');
        let keys = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n";
        let all: String =
            example.lines().filter(|line| !line.is_empty()).filter(is_key).map(keys).collect();
        // A key may be in the file twice, once as a comment.
        let all = all.replace("map_addresses = []\n", "");
        let settings = settings("", &all).unwrap();
        assert!(settings.options.authorization.is_some() && settings.http.is_some());
        assert_eq!((settings.options.motd.len(), settings.options.updates.len()), (1, 1));
    }

    #[test]
    fn options_override_the_config_file() {
        let config = "
            port = 27000
            more_ports = [27951, 27000, 27952]
            max_servers = 10
            flood_protection = 5
            accept_games = [\"a\"]
            map_addresses = [\"10.0.0.1=203.0.113.7\"]
            deny = [\"192.0.2.0/24\", \"2001:db8::/32\"]
            ip6 = \"\"
            [games]
            Warsow = \"Warsow-1\"
            [[motd]]
            version = \"ET\"
            text = \"Welcome\"
            [authorize]
            with_key = \"accept\"
            [[authorize.rule]]
            networks = [\"private\"]
            answer = \"deny\"
            reason = \"No\"";
        let line = "--port 28000 --max-servers 20 --accept-game b --game X=Y --http 127.0.0.1:80";
        let settings = settings(line, config).unwrap();
        assert_eq!(settings.ports, [28_000, 27_951, 27_000, 27_952]);
        assert_eq!((settings.options.ports, settings.ip6), (4, None));
        let options = &settings.options;
        assert_eq!((options.max_servers, options.flood_protection), (20, 5));
        assert_eq!(options.games.accept.iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(options.games.declared.len(), 2);
        assert_eq!((options.mappings.len(), options.motd.len()), (1, 1));
        assert!(options.deny.contains([192, 0, 2, 9].into()));
        assert_eq!(
            options.authorization.as_ref().map(|policy| policy.with_key),
            Some(Answer::Accept)
        );
        assert_eq!(settings.http, Some(([127, 0, 0, 1], 80).into()));
    }

    #[test]
    fn bind_replaces_both_addresses_of_the_file() {
        let bound = |line: &str| settings(line, "ip4 = \"192.0.2.7\"").map(|s| (s.ip4, s.ip6));
        let four = Some(Ipv4Addr::LOCALHOST);
        assert_eq!(bound("--bind 127.0.0.1"), Ok((four, None)));
        let six = Some(Ipv6Addr::LOCALHOST);
        assert_eq!(bound("--bind ::1"), Ok((None, six)));
        assert_eq!(bound("--bind ::1 --bind 127.0.0.1"), Ok((four, six)));
        assert_eq!(bound(""), Ok((Some([192, 0, 2, 7].into()), Some(Ipv6Addr::UNSPECIFIED))));
        assert!(bound("--bind localhost").unwrap_err().contains("localhost"));
    }

    #[test]
    fn invalid_options_are_refused_with_the_expected_value() {
        let refused = |line: &str, parts: &[&str]| {
            let error = arguments(line).expect_err(line);
            assert!(parts.iter().all(|part| error.contains(part)), "{line}: {error}");
        };
        refused("--max-servers 0", &["'0'", "1..=1000000"]);
        refused("--port 0", &["1..=65535"]);
        refused("--game Warsow", &["expected NAME=HEARTBEAT"]);
        refused("--accept-game a;b", &["expected 1 to 63 printable characters"]);
        refused("--map-address 10.0.0.1", &["expected FROM[:PORT]=TO[:PORT]"]);
    }

    #[test]
    fn invalid_config_is_refused_with_file_and_line() {
        let refused = |config: &str, parts: &[&str]| {
            let error = settings("", config).expect_err(config);
            assert!(parts.iter().all(|part| error.contains(part)), "{config}: {error}");
        };
        refused("port = 27000\nmax_server = 1", &["m.toml:2: ", "max_server", "expected one of"]);
        refused("\n\nmax_servers = 0", &["m.toml:3: ", "an integer above 0"]);
        refused("port = ", &["m.toml:1: "]);
        refused("deny = [\"192.0.2.0/33\"]", &["m.toml:1: ", "192.0.2.0/33", "expected"]);
        refused("ip4 = \"x\"", &["m.toml:1: ", "expected an IPv4 address"]);
        refused("[games]\n\"a b\" = \"x\"", &["m.toml:2: ", "a b"]);
        refused("[authorize]\nwith_key = \"yes\"", &["m.toml:2: ", "accept"]);
        refused("[games]\nx = \"ETFlatline-1\"", &["ETFlatline-1"]);
        let error =
            MasterArguments::default().build(None, Some(("k.toml", "\nrule = 5"))).unwrap_err();
        assert!(error.starts_with("k.toml:2: "), "{error}");
    }
}
