//! Proof of a client's game data: the command `cp`, which a pure server requires before usercmds.
//!
//! ```text
//! gamestate: systeminfo, feed ── archives in use ── cp ID CGAME UI @ REFERENCED… ENCODED ── usercmds
//! ```
//!
//! Before protocol 68 the command has no id, and before 66 it is `cl_paks CGAME UI @ REFERENCED…`.
//!
//! Invariants: each gamestate of a pure server is answered once, in order with the usercmds behind it; the answer is
//! accepted when the server has acknowledged it and still sends snapshots. A server that rejects it sends one more
//! snapshot that acknowledges only earlier commands.
//!
//! Source: Quake III protocols 43 and 68, pure servers. Engine names: `CL_SendPureChecksums`, `SV_VerifyPaks_f`.

use std::{fmt::Write as _, sync::Arc};

use crate::{
    model::{
        CommandNum, ConfigIndex, ServerId,
        installed_packs::{InstalledPacks, PROVEN_MODULES, PackProof, PackTable, installed},
        text::{atoi, truncated},
    },
    netchan::OutgoingCommands,
    wire::{
        info::InfoString,
        protocol::{Protocol, PureAnswer},
    },
};

use super::super::{
    event::{ClientEvent, DisconnectReason, Events},
    level::LevelState,
};

/// Names of archives in a message, and bytes of each.
const MAX_SHOWN_NAMES: usize = 4;
const MAX_SHOWN_LEN: usize = 40;
/// Words by which the refusals of pure servers are known, in lower case.
const REFUSALS: [&str; 2] = ["pure client", ".pk3"];

/// Proof of the current level.
#[derive(Debug)]
pub(super) struct Proof {
    packs: Option<Arc<dyn InstalledPacks>>,
    /// Number of the `cp` of the level.
    sent: Option<CommandNum>,
    /// The last `cp` of any level.
    last: Option<(CommandNum, Arc<str>)>,
    is_pure: bool,
}

/// Archives that a pure server lists.
struct Listed {
    checksums: Vec<i32>,
    /// Archives that the server uses itself, if it says so: those of the map and of the modules.
    referenced: Vec<i32>,
    /// Names without folder and extension; a server may list another number of them.
    names: Vec<String>,
    mod_folder: String,
}

impl Listed {
    /// Reads the systeminfo. Returns `None` for a server that is not pure.
    fn of(level: &LevelState) -> Option<Self> {
        let info = InfoString::parse_big(level.configstring(ConfigIndex::SYSTEMINFO));
        if info.int("sv_pure").unwrap_or(0) == 0 {
            return None;
        }
        let words = |key| info.get(key).unwrap_or_default().split_ascii_whitespace();
        Some(Self {
            checksums: words("sv_paks").map(atoi).collect(),
            referenced: words("sv_referencedPaks").map(atoi).collect(),
            names: words("sv_pakNames").map(str::to_owned).collect(),
            mod_folder: info.get("fs_game").unwrap_or_default().to_owned(),
        })
    }

    /// Returns the names of the missing archives that may hold the modules of the proof, for a message. Empty without any.
    ///
    /// These are the missing ones that the server uses itself, if it names them, else those in front of the installed one
    /// that a client would use. Their content is not known here.
    fn missing(&self, tables: &[Arc<PackTable>]) -> String {
        let is_used = |&checksum: &i32| {
            installed(tables, checksum).is_some_and(|pack| pack.holds.iter().all(|holds| *holds))
        };
        let end = self.checksums.iter().position(is_used);
        let listed = self.checksums.iter().zip(&self.names);
        let missing: Vec<_> = listed
            .enumerate()
            .filter(|&(_, (&checksum, _))| installed(tables, checksum).is_none())
            .collect();
        let is_referenced = |checksum: &i32| self.referenced.contains(checksum);
        let has_referenced = missing.iter().any(|(_, (checksum, _))| is_referenced(checksum));
        let shown: Vec<&String> = missing
            .into_iter()
            .filter(|&(at, (checksum, _))| match has_referenced {
                true => is_referenced(checksum),
                false => end.is_none_or(|end| at < end),
            })
            .map(|(_, (_, name))| name)
            .collect();
        let mut text = String::new();
        for (at, name) in shown.iter().take(MAX_SHOWN_NAMES).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            let name = truncated(name, MAX_SHOWN_LEN);
            // Writing to a string does not fail.
            let _ = write!(text, "{separator}{name}.pk3");
        }
        if shown.len() > MAX_SHOWN_NAMES {
            let _ = write!(text, " and {} more", shown.len() - MAX_SHOWN_NAMES);
        }
        if shown.len() > 1 {
            let [cgame, ui] = PROVEN_MODULES;
            let _ = write!(text, ", of which only those with {cgame} and {ui} are needed");
        }
        text
    }
}

impl Proof {
    pub(super) fn new(packs: Option<Arc<dyn InstalledPacks>>) -> Self {
        Self { packs, sent: None, last: None, is_pure: false }
    }

    /// Answers a gamestate. Returns the reason for which the client leaves: no installed archive proves it.
    pub(super) fn answer(
        &mut self,
        protocol: &Protocol,
        level: &LevelState,
        commands: &mut OutgoingCommands,
        events: &mut Events,
    ) -> Option<DisconnectReason> {
        self.sent = None;
        let listed = Listed::of(level);
        self.is_pure = listed.is_some();
        let listed = listed?;
        let Some(packs) = &self.packs else {
            events.push(ClientEvent::ProofRequired);
            return None;
        };
        let tables = packs.tables(&listed.mod_folder);
        let form = protocol.pure_answer;
        let proof = match form {
            PureAnswer::PakChecksums => PackProof::listed(&tables, &listed.checksums),
            PureAnswer::Mixed | PureAnswer::MixedOfLevel => {
                let feed = level.checksum_feed.unwrap_or_default();
                PackProof::new(&tables, &listed.checksums, feed)
            }
        };
        let proof = match proof {
            Ok(proof) => proof,
            Err(module) => {
                let text = unprovable(module, &listed.missing(&tables), &packs.searched());
                return Some(DisconnectReason::Unpure(text));
            }
        };
        self.send(command(form, level.server_id, &proof).into(), commands)
    }

    /// Sends `cp`, unless the server is still to receive an equal one: it sent the gamestate before that.
    fn send(
        &mut self,
        text: Arc<str>,
        commands: &mut OutgoingCommands,
    ) -> Option<DisconnectReason> {
        let is_under_way = |&(number, _): &(CommandNum, _)| !is_acknowledged(commands, number);
        let same = self.last.as_ref().filter(|last| last.1 == text && is_under_way(last));
        self.sent = same.map(|&(number, _)| number);
        if self.sent.is_some() {
            return None;
        }
        let Ok(number) = commands.add(text.clone()) else {
            return Some(DisconnectReason::CommandOverflow);
        };
        self.sent = Some(number);
        self.last = Some((number, text));
        None
    }

    /// Whether the server has accepted the proof of the level, or needs none.
    pub(super) fn is_accepted(&self, commands: &OutgoingCommands) -> bool {
        self.sent.is_none_or(|sent| is_acknowledged(commands, sent))
    }

    /// Returns the reason of a disconnect by the server, with the archives that are missing if it refused the proof.
    pub(super) fn explain(&self, level: &LevelState, said: String) -> DisconnectReason {
        let lower = said.to_ascii_lowercase();
        if !self.is_pure || !REFUSALS.iter().any(|refusal| lower.contains(refusal)) {
            return DisconnectReason::ServerSaid(said);
        }
        let missing = Listed::of(level).zip(self.packs.as_ref()).map(|(listed, packs)| {
            (listed.missing(&packs.tables(&listed.mod_folder)), packs.searched())
        });
        DisconnectReason::Unpure(match missing {
            Some((missing, searched)) if !missing.is_empty() => {
                format!("{} (not installed here: {missing}; {searched})", said.trim())
            }
            _ => said,
        })
    }
}

fn is_acknowledged(commands: &OutgoingCommands, number: CommandNum) -> bool {
    number.distance(commands.acknowledged()) <= 0
}

/// Returns the command that proves the archives of a level.
fn command(form: PureAnswer, level: ServerId, proof: &PackProof) -> String {
    let mut text = match form {
        PureAnswer::PakChecksums => "cl_paks".to_owned(),
        PureAnswer::Mixed => "cp".to_owned(),
        PureAnswer::MixedOfLevel => format!("cp {level}"),
    };
    let [cgame, ui] = proof.modules;
    let _ = write!(text, " {cgame} {ui} @ ");
    for checksum in &proof.referenced {
        let _ = write!(text, "{checksum} ");
    }
    if form != PureAnswer::PakChecksums {
        let _ = write!(text, "{} ", proof.encoded);
    }
    text
}

/// Returns the reason for which a level cannot be proven.
fn unprovable(module: &str, missing: &str, searched: &str) -> String {
    debug_assert!(PROVEN_MODULES.contains(&module));
    let files = if missing.is_empty() {
        format!("no installed pk3 file has {module}")
    } else {
        format!("none of its pk3 files with {module} is installed; not installed: {missing}")
    };
    format!("pure server (sv_pure 1): {files}; {searched}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proof_has_the_form_of_the_protocol() {
        let proof = PackProof { modules: [5, -6], referenced: vec![5, -6], encoded: 9 };
        for (protocol, expected) in [
            (Protocol::Q3_43, "cl_paks 5 -6 @ 5 -6 "),
            (Protocol::Q3_67, "cp 5 -6 @ 5 -6 9 "),
            (Protocol::Q3_68, "cp 77 5 -6 @ 5 -6 9 "),
        ] {
            assert_eq!(command(protocol.pure_answer, ServerId(77), &proof), expected);
        }
    }
}
