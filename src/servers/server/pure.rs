//! Pure servers: clients use only archives that the server has, and prove it with `cp`.
//!
//! ```text
//! systeminfo: checksums and names of all archives
//! cp ID CGAME UI @ REFERENCED… ENCODED     each number mixed with the feed of the gamestate
//! cp CGAME UI @ REFERENCED… ENCODED        protocols 66 and 67
//! cl_paks CGAME UI @ REFERENCED…           protocols 43 and 45: checksums as listed
//! ```
//!
//! Invariant: without a valid proof, no usercmd of a client runs on a pure server.
//! Source: Quake III protocol 68, pure servers. Engine names: `SV_VerifyPaks_f`, `SV_ResetPureClient_f`.

use std::collections::BTreeSet;

use super::{
    client::Client,
    current_level::Level,
    downloads::{
        Downloads,
        offer::{ALLOWED, Offer},
    },
};
use crate::{
    model::{
        CommandArgs, ServerId,
        assets::{Assets, ListedPack, PackInfo},
        text::atoi,
    },
    settings::{Choice as _, Settings, key},
    wire::protocol::PureAnswer,
};

/// Longest list of names or checksums in the systeminfo, in bytes.
const MAX_LIST_LEN: usize = 4000;

/// Proof of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PureState {
    is_proven: bool,
}

/// Checksums that the clients of a level prove.
#[derive(Debug)]
pub(super) struct PureLevel {
    /// File names of the archives with `vm/cgame.qvm` and `vm/ui.qvm`.
    modules: [String; 2],
    /// Checksums mixed with the feed.
    mixed: Sums,
    /// Checksums as listed.
    listed: Sums,
    feed: i32,
}

/// Checksums of archives in one form.
#[derive(Debug, Default)]
struct Sums {
    /// Those of the archives with `vm/cgame.qvm` and `vm/ui.qvm`.
    modules: [i32; 2],
    all: BTreeSet<i32>,
}

/// Position of the first checksum in a proof.
const fn first_checksum(form: PureAnswer) -> usize {
    match form {
        PureAnswer::MixedOfLevel => 2,
        PureAnswer::Mixed | PureAnswer::PakChecksums => 1,
    }
}

/// Publishes the archives of a level that is loaded: those that clients download, and on a pure server all.
/// Returns what clients prove on a pure server.
pub(super) fn publish(
    assets: &dyn Assets,
    settings: &mut Settings,
    downloads: &mut Downloads,
    level: &Level,
) -> Option<PureLevel> {
    let wants_pure = settings.flag(key::SV_PURE);
    let modules = wants_pure.then(|| {
        ["vm/cgame.qvm", "vm/ui.qvm"].map(|file| assets.find(file).and_then(|found| found.pack))
    });
    let modules = match modules {
        Some([Some(cgame), Some(ui)]) => Some([cgame, ui]),
        Some(_) => {
            log::warn!(
                "sv_pure set to 0: no pk3 file of the game data has vm/cgame.qvm and vm/ui.qvm"
            );
            None
        }
        None => None,
    };
    let (all, names) = modules.map(|_| lists(assets)).unwrap_or_default();
    let fits = all.len() <= MAX_LIST_LEN && names.len() <= MAX_LIST_LEN;
    if !fits {
        log::warn!("sv_pure set to 0: names of the pk3 files exceed the systeminfo");
    }
    let modules = modules.filter(|_| fits);
    let needed: Vec<usize> =
        level.pack.into_iter().chain(modules.map(|[cgame, _]| cgame)).collect();
    let base = settings.choice(key::GAME).name();
    let has_http = !settings.text(key::SV_DL_URL).is_empty();
    let offer = Offer::new(&assets.packs(), base, &needed, has_http);
    if settings.int(key::SV_ALLOW_DOWNLOAD) & ALLOWED != 0 {
        assets.offer(&offer.packs());
        let obstacles = Offer::obstacles(&assets.packs(), base, &needed, has_http);
        for (pack, text) in obstacles {
            // Once for each archive, not with each level.
            if downloads.obstacles.insert(pack) {
                log::warn!("{text}");
            }
        }
    }
    let (checksums, referenced) = offer.lists();
    let pure = modules.map(|modules| PureLevel::new(assets, modules, level.checksum_feed));
    downloads.offer = offer;
    // The lists are printable and within the limits of their rows.
    let (all, names) = if pure.is_some() { (all, names) } else { Default::default() };
    let _ = settings.write(key::SV_PURE, u8::from(pure.is_some()));
    let _ = settings.write(key::SV_PAKS, all);
    let _ = settings.write(key::SV_PAK_NAMES, names);
    let _ = settings.write(key::SV_REFERENCED_PAKS, checksums);
    let _ = settings.write(key::SV_REFERENCED_PAK_NAMES, referenced);
    pure
}

/// Checksums and names of all archives, in search order.
fn lists(assets: &dyn Assets) -> (String, String) {
    let (mut checksums, mut names) = (String::new(), String::new());
    for ListedPack { info: pack, .. } in &*assets.packs() {
        checksums.push_str(&format!("{} ", pack.checksum()));
        names.push_str(&format!("{} ", pack.name));
    }
    (checksums, names.trim_end().to_owned())
}

impl PureLevel {
    fn new(assets: &dyn Assets, modules: [usize; 2], feed: i32) -> Self {
        let packs = assets.packs();
        let infos =
            modules.map(|pack| packs.iter().find(|listed| listed.number == pack).map(|l| &l.info));
        let sums = |of: &dyn Fn(&PackInfo) -> i32| Sums {
            modules: infos.map(|info| info.map_or(0, of)),
            all: packs.iter().map(|pack| of(&pack.info)).collect(),
        };
        Self {
            modules: infos.map(|info| info.map_or_else(String::new, PackInfo::file_name)),
            mixed: sums(&|info| info.pure_checksum(feed)),
            listed: sums(&PackInfo::checksum),
            feed,
        }
    }

    /// Checks the arguments of a proof. Returns the reason of a failure.
    fn check(&self, form: PureAnswer, words: &CommandArgs) -> Result<(), String> {
        let invalid =
            || "Unpure client: invalid list of pk3 files. Reconnect to try again.".to_owned();
        let sums = if form == PureAnswer::PakChecksums { &self.listed } else { &self.mixed };
        let (first, count) = (first_checksum(form), words.len());
        let end = if form == PureAnswer::PakChecksums { count } else { count.saturating_sub(1) };
        if end < first + 3 || !words.get(first + 2).starts_with('@') {
            return Err(self.module_fault(sums, first, words).unwrap_or_else(invalid));
        }
        if let Some(fault) = self.module_fault(sums, first, words) {
            return Err(fault);
        }
        let referenced: Vec<i32> = (first + 3..end).map(|at| atoi(words.get(at))).collect();
        let distinct: BTreeSet<i32> = referenced.iter().copied().collect();
        if distinct.len() != referenced.len() {
            return Err(invalid());
        }
        let foreign = referenced.iter().filter(|sum| !sums.all.contains(sum)).count();
        if foreign > 0 {
            return Err(format!(
                "Unpure client: {foreign} pk3 files in use are not on this server. Set \
                 cl_allowDownload 1, remove pk3 files that are not part of the game, and reconnect."
            ));
        }
        let encoded = referenced.iter().fold(self.feed, |sum, one| sum ^ one);
        if form != PureAnswer::PakChecksums
            && atoi(words.get(count - 1)) != encoded ^ referenced.len() as i32
        {
            return Err(invalid());
        }
        Ok(())
    }

    /// Returns the reason if a game module comes from another archive than the server's.
    fn module_fault(&self, sums: &Sums, first: usize, words: &CommandArgs) -> Option<String> {
        let is_other = |at: &usize| atoi(words.get(first + at)) != sums.modules[*at];
        let at = (0..sums.modules.len()).find(is_other)?;
        let (file, pack) = (["vm/cgame.qvm", "vm/ui.qvm"][at], &self.modules[at]);
        Some(format!(
            "Unpure client: {file} must be that of {pack}. Set vm_game, vm_cgame and vm_ui to 2, \
             remove other pk3 files with {file}, and reconnect."
        ))
    }
}

/// Checks the proof of a client for a level.
///
/// # Errors
/// The reason of a failure.
pub(super) fn check_proof(
    pure: Option<&PureLevel>,
    level: &Level,
    client: &mut Client,
    words: &CommandArgs,
) -> Result<(), String> {
    let Some(pure) = pure else { return Ok(()) };
    let form = client.channel.protocol().pure_answer;
    // A proof of an earlier level.
    let is_old = form == PureAnswer::MixedOfLevel && ServerId(atoi(words.get(1))) < level.feed_id;
    if !client.has_level() || is_old {
        return Ok(());
    }
    pure.check(form, words)?;
    client.own.pure.is_proven = true;
    Ok(())
}

/// Whether the usercmds of a client run.
pub(super) fn allows_usercmds(pure: Option<&PureLevel>, client: &Client) -> bool {
    pure.is_none() || client.own.pure.is_proven
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::assets::MemoryAssets;

    fn level() -> (PureLevel, [i32; 2]) {
        let mut assets = MemoryAssets::default();
        assets.insert_pack("baseoa", "vms", b"1", &[("vm/cgame.qvm", b"c")]).unwrap();
        assets.insert_pack("baseoa", "map", b"2", &[("maps/m.bsp", b"m")]).unwrap();
        let sums = [0, 1].map(|pack: usize| assets.packs()[pack].info.pure_checksum(77));
        (PureLevel::new(&assets, [0, 0], 77), sums)
    }

    fn check(level: &PureLevel, words: String) -> String {
        level
            .check(PureAnswer::MixedOfLevel, &CommandArgs::parse(&words))
            .map_or_else(|reason| reason, |()| String::new())
    }

    #[test]
    fn proof_of_listed_archives_is_accepted() {
        let (level, [vm, map]) = level();
        let encoded = 77 ^ vm ^ map ^ 2;
        assert_eq!(check(&level, format!("cp 1 {vm} {vm} @ {vm} {map} {encoded} ")), "");
        assert_eq!(check(&level, format!("cp 1 {vm} {vm} @ {vm} {}", 77 ^ vm ^ 1)), "");
    }

    #[test]
    fn older_proofs_have_no_server_id() {
        let (level, [vm, map]) = level();
        let check = |form, words: String| level.check(form, &CommandArgs::parse(&words));
        let encoded = 77 ^ vm ^ map ^ 2;
        let words = format!("cp {vm} {vm} @ {vm} {map} {encoded}");
        assert_eq!(check(PureAnswer::Mixed, words.clone()), Ok(()));
        assert!(check(PureAnswer::MixedOfLevel, words).is_err());
        let [listed_vm, _] = level.listed.modules;
        let listed = format!("cl_paks {listed_vm} {listed_vm} @ {listed_vm}");
        assert_eq!(check(PureAnswer::PakChecksums, listed), Ok(()));
        assert!(check(PureAnswer::PakChecksums, format!("cl_paks {vm} {vm} @ {vm}")).is_err());
        let foreign = format!("cl_paks {listed_vm} {listed_vm} @ 5");
        assert!(check(PureAnswer::PakChecksums, foreign).is_err());
    }

    #[test]
    fn wrong_proofs_name_the_file() {
        let (level, [vm, map]) = level();
        let foreign = format!("cp 1 {vm} {vm} @ {vm} 5 {}", 77 ^ vm ^ 5 ^ 2);
        assert!(check(&level, foreign).contains("1 pk3 files in use are not on this server"));
        let other = check(&level, format!("cp 1 {map} {vm} @ {vm} {}", 77 ^ vm ^ 1));
        assert!(other.contains("vm/cgame.qvm must be that of baseoa/vms.pk3"), "{other}");
        for words in [
            format!("cp 1 {vm} {vm} @ {vm} {vm} {}", 77 ^ 2),
            format!("cp 1 {vm} {vm} @ {vm} {}", 78 ^ vm),
            format!("cp 1 {vm} {vm} {vm} {vm}"),
            format!("cp 1 {vm} {vm} {vm} {vm} {vm} 3"),
        ] {
            assert!(check(&level, words.clone()).contains("invalid list"), "{words}");
        }
    }
}
