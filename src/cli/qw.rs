//! Options of `qw`: config file, then options, then `+` commands; later values override earlier ones.

use std::{
    ffi::OsString,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use clap::Args;

use super::address::{own_address, own_ip};
use super::number::{ANY_U32, number};
use super::{TraceFiles, bind::BindAddresses, folder_or_map, serve::JOURNAL_MEBIBYTES};
use crate::qwserver::Settings;

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd qw                                        host fragqw1, the map of the program, on UDP 27500
  fragd qw --basedir /opt/quake --map dm6         with maps of id1, qw and their PACK archives
  fragd qw --basedir /opt/quake --gamedir ctf --port 27501
  fragd qw --config qw.toml                       with settings from a file
  fragd qw +hostname \"My server\" +maxclients 16 +fraglimit 20 +exec duel.cfg
  fragd qw +rcon_password sesame +sv_crypt_rcon 0
  fragd qw --journal qw.journal                   record every input for fragd replay
  fragd qw --trace qw.jsonl --pcap qw.pcapng      decode and capture all datagrams

All words from the first one that starts with + are console commands, as for other QuakeWorld servers. They run behind \
server.cfg of the game folders. The commands help, cvarlist and maplist of the console list commands, settings and \
maps. ezQuake encrypts rcon; for other clients set sv_crypt_rcon 0.

Exit codes: 0 stopped, 1 failure, 2 usage, config or map error.";

/// Options of `qw`.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct QwOptions {
    /// Config file (TOML) with settings by their names, in tables of any name
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder with the game folders id1 and qw [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub basedir: Option<PathBuf>,
    /// Game folder that is searched before qw and id1
    #[arg(long, value_name = "NAME", value_parser = folder_or_map)]
    pub gamedir: Option<String>,
    /// First map
    #[arg(long, value_name = "NAME", value_parser = folder_or_map)]
    pub map: Option<String>,
    /// UDP port, as +net_port; 0 selects any free port [default: 27500]
    #[arg(long, value_name = "N", value_parser = number::<u16>(0..=65535))]
    pub port: Option<u16>,
    /// Listen on this address only; repeat for IPv4 and IPv6 [default: all addresses]
    #[arg(long, value_name = "IP", value_parser = own_ip)]
    pub bind: Vec<IpAddr>,
    /// Serve counters for Prometheus on this address
    #[arg(long, value_name = "IP:PORT", value_parser = own_address)]
    pub metrics: Option<SocketAddr>,
    /// Record all input to FILE for fragd replay (contains passwords)
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Stop recording after MIB mebibytes; the server keeps running; 0 disables the limit [default: 4096]
    #[arg(long, value_name = "MIB", requires = "journal", value_parser = number::<u32>(ANY_U32))]
    pub journal_limit: Option<u32>,
    /// Trace and packet capture.
    #[command(flatten)]
    pub files: TraceFiles,
    /// Log also debug messages
    #[arg(long)]
    pub verbose: bool,
    /// Console lines from the first `+` on.
    #[arg(skip)]
    pub lines: Vec<String>,
}

impl QwOptions {
    /// Maximum size of a journal, in bytes.
    #[must_use]
    pub fn journal_bytes(&self) -> u64 {
        match self.journal_limit.unwrap_or(JOURNAL_MEBIBYTES) {
            0 => u64::MAX,
            mebibytes => u64::from(mebibytes) << 20,
        }
    }

    /// Takes the words from the first one that starts with `+`.
    pub(super) fn with_plus(self, words: &[OsString]) -> Self {
        Self { lines: lines(words), ..self }
    }

    pub(super) fn check_addresses(&self) -> Result<(), String> {
        BindAddresses::check("--bind", &self.bind)
    }

    /// The initial settings. `config` is the name of the config file, for errors, and its text.
    ///
    /// # Errors
    /// The first error, with its origin.
    pub fn build(&self, config: Option<(&str, &str)>) -> Result<Settings, String> {
        let mut settings = Settings::default();
        if let Some((path, text)) = config {
            settings.read_config(text).map_err(|error| format!("{path}: {error}"))?;
        }
        let mut set = |origin: &str, name: &str, value: Option<String>| {
            let Some(value) = value else { return Ok(()) };
            settings.set(name, &value).map(drop).map_err(|error| format!("{origin}: {error}"))
        };
        set("--gamedir", "gamedir", self.gamedir.clone())?;
        set("--map", "map", self.map.clone())?;
        set("--port", "net_port", self.port.map(|port| port.to_string()))?;
        if !self.bind.is_empty() {
            let of = |is_v4: bool| self.bind.iter().find(|ip| ip.is_ipv4() == is_v4);
            set("--bind", "net_ip", of(true).map(ToString::to_string))?;
            set("--bind", "net_ip6", of(false).map(ToString::to_string))?;
        }
        Ok(settings)
    }

    /// Game folders in search order.
    #[must_use]
    pub fn folders(&self, settings: &Settings) -> Vec<PathBuf> {
        let base = self.basedir.clone().unwrap_or_else(|| PathBuf::from("."));
        let chosen = settings.values().text(crate::qwserver::settings::key::GAMEDIR);
        let mut names = vec![chosen, "qw", "id1"];
        names.retain(|name| !name.is_empty());
        names.dedup();
        if names.len() == 3 && names[0] == names[2] {
            names.remove(0);
        }
        names.into_iter().map(|name| base.join(name)).collect()
    }
}

/// Returns console lines, one for each word that starts with `+`.
fn lines(words: &[OsString]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let word = word.to_string_lossy();
        match word.strip_prefix('+') {
            Some(command) if !command.contains(' ') => lines.push(command.to_owned()),
            _ => {
                let Some(line) = lines.last_mut() else { continue };
                let needs_quotes = word.is_empty() || word.contains([' ', '\t', ';', '/']);
                let word = word.replace('"', "");
                let separator = if line.is_empty() { "" } else { " " };
                if needs_quotes {
                    line.push_str(&format!("{separator}\"{word}\""));
                } else {
                    line.push_str(&format!("{separator}{word}"));
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &[&str]) -> QwOptions {
        let words = ["fragd", "qw"].iter().chain(line).map(OsString::from);
        match super::super::parse(words) {
            Ok(super::super::Command::Qw(options)) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn plus_words_become_console_lines() {
        let options =
            options(&["--port", "0", "+set", "hostname", "my server", "+map", "dm6", "+quit"]);
        assert_eq!(options.lines, ["set hostname \"my server\"", "map dm6", "quit"]);
        assert_eq!(options.port, Some(0));
    }

    #[test]
    fn game_folders_are_searched_in_order() {
        let folders = |words: &[&str]| {
            let options = options(words);
            let settings = options.build(None).unwrap();
            let folders = options.folders(&settings);
            folders.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(folders(&["--basedir", "/q"]), ["/q/qw", "/q/id1"]);
        assert_eq!(
            folders(&["--basedir", "/q", "--gamedir", "ctf"]),
            ["/q/ctf", "/q/qw", "/q/id1"]
        );
        assert_eq!(folders(&["--basedir", "/q", "--gamedir", "id1"]), ["/q/qw", "/q/id1"]);
    }

    #[test]
    fn errors_name_option_and_file() {
        let error =
            options(&["--map", "a"]).build(Some(("qw.toml", "maxclients = 99"))).unwrap_err();
        assert!(error.starts_with("qw.toml: maxclients: invalid value"), "{error}");
    }
}
