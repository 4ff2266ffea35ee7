//! Offer of a level: the archives that clients may download, and the reasons of refusals.
//!
//! A level offers the archive of its map and all archives of the mod folder. The archives of Quake III Arena
//! and Team Arena are never offered, by name or by content.
//! Source: Quake III protocol 68, UDP download; the texts are ioquake3's, which clients show.

use crate::{
    model::{
        assets::{ListedPack, PackInfo},
        text,
    },
    settings::{Settings, Values, key},
    wire::download::MAX_BLOCK_LEN,
};

/// Longest list of names or checksums in the systeminfo, in bytes.
const MAX_LIST_LEN: usize = 4000;
/// Longest file in bytes: a client of the 1.32 release reads block numbers as signed 16-bit numbers.
const MAX_FILE_LEN: u64 = i16::MAX as u64 * MAX_BLOCK_LEN as u64;

/// Longest name of an offered archive with its folder, in bytes: the limit of clients.
const MAX_NAME_LEN: usize = 63;

/// Checksums of the archives `baseq3/pak0` to `pak8`, then of `missionpack/pak0` to `pak3`.
const ORIGINALS: [u32; 13] = [
    1_566_731_103,
    298_122_907,
    412_165_236,
    2_991_495_316,
    1_197_932_710,
    4_087_071_573,
    3_709_064_859,
    908_855_077,
    977_125_798,
    2_430_342_401,
    511_014_160,
    2_662_638_993,
    1_438_664_554,
];

/// Bit of `sv_allowDownload`: clients may download.
pub(in crate::server) const ALLOWED: i32 = 1;
/// Bit of `sv_allowDownload`: not over UDP.
const NO_UDP: i32 = 4;

/// Archives that clients may download.
#[derive(Debug, Default)]
pub(in crate::server) struct Offer {
    files: Vec<OfferedFile>,
}

/// An archive that clients may download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OfferedFile {
    /// Number of the archive in the game data.
    pub(super) pack: usize,
    /// Folder, name and extension.
    pub(super) name: String,
    pub(super) len: u64,
    checksum: i32,
}

impl Offer {
    /// Creates the offer of a level. `needed` are the numbers of the archives that the level uses.
    ///
    /// A file that is too large for UDP is offered only with an HTTP server: a client that cannot download a
    /// listed file does not join, even if it has the map.
    pub(in crate::server) fn new(
        packs: &[ListedPack],
        base: &str,
        needed: &[usize],
        has_http: bool,
    ) -> Self {
        let is_offered = |listed: &&ListedPack| {
            is_wanted(listed, base, needed) && obstacle(&listed.info, has_http).is_none()
        };
        let file = |ListedPack { number, info: pack }: &ListedPack| OfferedFile {
            pack: *number,
            name: pack.file_name(),
            len: pack.len,
            checksum: pack.checksum(),
        };
        Self { files: packs.iter().filter(is_offered).map(file).collect() }
    }

    /// Archives that clients should download and cannot be offered: number, and the reason with the name.
    pub(in crate::server) fn obstacles(
        packs: &[ListedPack],
        base: &str,
        needed: &[usize],
        has_http: bool,
    ) -> Vec<(usize, String)> {
        let obstacle = |listed: &ListedPack| {
            // Clients have the large archives of the game itself.
            let ignores_size = has_http || listed.info.folder == base;
            let reason = obstacle(&listed.info, ignores_size)?;
            let name = text::escaped(listed.info.file_name().as_bytes());
            Some((listed.number, format!("{name} not offered for download: {reason}")))
        };
        packs.iter().filter(|listed| is_wanted(listed, base, needed)).filter_map(obstacle).collect()
    }

    /// Numbers of the archives.
    pub(in crate::server) fn packs(&self) -> Vec<usize> {
        self.files.iter().map(|file| file.pack).collect()
    }

    /// Bytes of all archives.
    pub(super) fn total_len(&self) -> u64 {
        self.files.iter().map(|file| file.len).sum()
    }

    /// Lists for the systeminfo: checksums, and names without extension.
    pub(in crate::server) fn lists(&self) -> (String, String) {
        let (mut checksums, mut names) = (String::new(), String::new());
        for file in &self.files {
            let name = file.name.trim_end_matches(".pk3");
            if checksums.len() + 12 > MAX_LIST_LEN || names.len() + name.len() > MAX_LIST_LEN {
                log::warn!("systeminfo full: {} not listed for download", file.name);
                continue;
            }
            checksums.push_str(&format!("{} ", file.checksum));
            if !names.is_empty() {
                names.push(' ');
            }
            names.push_str(name);
        }
        (checksums, names)
    }

    /// Returns the file that a client requests, or the reason of the refusal.
    pub(super) fn request(&self, asked: &str, settings: &Settings) -> Result<OfferedFile, String> {
        let shown = text::truncated(asked, 255);
        if let Some(text) = original_refusal(shown) {
            return Err(text);
        }
        let found = self.files.iter().find(|file| file.name.eq_ignore_ascii_case(asked));
        let Some(file) = found else {
            return Err(format!("File \"{shown}\" is not referenced and cannot be downloaded."));
        };
        let allowed = settings.int(key::SV_ALLOW_DOWNLOAD);
        if allowed & ALLOWED == 0 || allowed & NO_UDP != 0 {
            let advice = if settings.flag(key::SV_PURE) {
                "You will need to get this file elsewhere before you can connect to this pure \
                 server.\n"
            } else {
                "The server you are connecting to is not a pure server, set autodownload to No in \
                 your settings and you might be able to join the game anyway.\n"
            };
            return Err(format!(
                "Could not download \"{shown}\" because autodownloading is disabled on the \
                 server.\n\n{advice}"
            ));
        }
        if file.len > MAX_FILE_LEN {
            let url = settings.text(key::SV_DL_URL);
            let place = if url.is_empty() { String::new() } else { format!(" at {url}/{shown}") };
            return Err(format!(
                "File \"{shown}\" is too large for a download from the game server: {} MiB (at \
                 most 31). Get it{place} and put it into your game folder.\n",
                file.len >> 20
            ));
        }
        Ok(file.clone())
    }
}

/// Returns the URL of the server's own HTTP downloads. `None` without `sv_http`, or if it names no address
/// that clients can reach.
pub(in crate::server) fn url_of(values: &Values) -> Option<String> {
    let address = values.endpoint(key::SV_HTTP)?;
    let bound = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        std::net::IpAddr::V4(_) => values.address(key::NET_IP),
        std::net::IpAddr::V6(_) => values.address(key::NET_IP6),
    };
    let address = std::net::SocketAddr::new(bound, address.port());
    (!bound.is_unspecified() && address.port() != 0).then(|| format!("http://{address}"))
}

/// Whether clients should download an archive: one that the level needs, or one of the mod. Those of Quake III Arena
/// and Team Arena are never offered.
fn is_wanted(ListedPack { number, info: pack }: &ListedPack, base: &str, needed: &[usize]) -> bool {
    (needed.contains(number) || pack.folder != base) && !is_original(pack)
}

/// Returns the reason why an archive cannot be offered. Its name does not fit the systeminfo, or it is too large.
fn obstacle(pack: &PackInfo, has_http: bool) -> Option<String> {
    let signs = "_-.+!#~()[]";
    let name = pack.file_name();
    for part in [&pack.folder, &pack.name] {
        let is_legal = |c: &char| c.is_ascii_alphanumeric() || signs.contains(*c);
        if let Some(c) = part.chars().find(|c| !is_legal(c)) {
            let shown = text::escaped(c.to_string().as_bytes());
            return Some(format!(
                "invalid character '{shown}' in its name (expected letters, digits and {signs})"
            ));
        }
        if part.is_empty() || part.starts_with('.') {
            return Some("invalid name (expected one that starts with no period)".to_owned());
        }
    }
    if name.len() > MAX_NAME_LEN {
        return Some(format!("name too long: {} bytes (max {MAX_NAME_LEN})", name.len()));
    }
    (!has_http && pack.len > MAX_FILE_LEN).then(|| {
        let (len, max) = (pack.len >> 20, MAX_FILE_LEN >> 20);
        format!("too large for UDP: {len} MiB (max {max}); set sv_http or sv_dlURL")
    })
}

fn is_original(pack: &PackInfo) -> bool {
    original_refusal(&pack.file_name()).is_some()
        || ORIGINALS.contains(&pack.checksum().cast_unsigned())
}

/// Returns the refusal of an archive of Quake III Arena or Team Arena by its name.
fn original_refusal(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let number = |folder: &str| -> Option<u8> {
        let number = lower.strip_prefix(folder)?.strip_prefix("/pak")?.strip_suffix(".pk3")?;
        number.parse().ok().filter(|_| number.len() == 1)
    };
    if number("baseq3").is_some_and(|number| number <= 8) {
        return Some(format!("Cannot autodownload id pk3 file \"{name}\""));
    }
    number("missionpack").filter(|&number| number <= 3).map(|_| {
        format!(
            "Cannot autodownload Team Arena file \"{name}\"\nThe Team Arena mission pack can be \
             found in your local game store."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(folder: &str, name: &str, len: u64) -> PackInfo {
        PackInfo { folder: folder.into(), name: name.into(), len, crcs: [len as u32].into() }
    }

    fn listed(packs: impl IntoIterator<Item = PackInfo>) -> Vec<ListedPack> {
        let listed = packs.into_iter().enumerate();
        listed.map(|(number, info)| ListedPack { number, info }).collect()
    }

    fn refusal(offer: &Offer, asked: &str, set: &[(&str, &str)]) -> String {
        let mut settings = Settings::default();
        for (name, value) in set {
            settings.set(name, value).unwrap();
        }
        offer.request(asked, &settings).map(|file| file.name).unwrap_or_else(|text| text)
    }

    #[test]
    fn offer_has_needed_archives_and_those_of_the_mod() {
        let packs = listed([
            pack("mod", "z", 1),
            pack("baseq3", "map", 2),
            pack("baseq3", "other", 3),
            pack("baseq3", "PAK0", 4),
            pack("missionpack", "pak3", 5),
            pack("mod", "two words", 6),
        ]);
        let offer = Offer::new(&packs, "baseq3", &[1, 3], false);
        assert_eq!(offer.packs(), [0, 1]);
        let (checksums, names) = offer.lists();
        assert_eq!(names, "mod/z baseq3/map");
        let expected = format!("{} {} ", packs[0].info.checksum(), packs[1].info.checksum());
        assert_eq!(checksums, expected);
    }

    #[test]
    fn obstacles_name_archive_and_reason() {
        let long = "x".repeat(60);
        let packs = listed([
            pack("mod", "two words", 1),
            pack("mod", "caf\u{e9}", 2),
            pack("mod", &long, 3),
            pack("mod", "huge", 64 << 20),
            pack("mod", "fine", 5),
            pack("mod", ".hidden", 6),
            pack("baseq3", "large", 64 << 20),
            pack("baseq3", "un needed", 7),
            pack("baseq3", "pak0", 8),
        ]);
        let reasons = |has_http| Offer::obstacles(&packs, "baseq3", &[6, 8], has_http);
        let texts: Vec<_> = reasons(false).into_iter().map(|(_, text)| text).collect();
        let starts = [
            "mod/two words.pk3 not offered for download: invalid character ' ' in its name",
            "mod/caf\\xc3\\xa9.pk3 not offered for download: invalid character '\\xc3\\xa9' in its name",
            &format!("mod/{long}.pk3 not offered for download: name too long: 68 bytes (max 63)"),
            "mod/huge.pk3 not offered for download: too large for UDP: 64 MiB (max 31)",
            "mod/.hidden.pk3 not offered for download: invalid name",
        ];
        assert_eq!(texts.len(), starts.len(), "{texts:?}");
        for (text, start) in texts.iter().zip(starts) {
            assert!(text.starts_with(start), "{text}");
        }
        assert_eq!(reasons(true).len(), 4, "HTTP has no limit");
    }

    #[test]
    fn requests_outside_the_offer_are_refused() {
        let packs = listed([pack("baseoa", "map", 9), pack("baseoa", "server", 9)]);
        let offer = Offer::new(&packs, "baseoa", &[0], false);
        assert_eq!(refusal(&offer, "BASEOA/map.pk3", &[]), "baseoa/map.pk3");
        for asked in [
            "",
            "baseoa/server.pk3",
            "baseoa/map",
            "map.pk3",
            "/baseoa/map.pk3",
            "baseoa//map.pk3",
            "baseoa\\map.pk3",
            "baseoa/../baseoa/map.pk3",
            "../../etc/passwd",
            "C:\\q3config.cfg",
            "baseoa/%6dap.pk3",
            "baseoa/map.pk3\0",
        ] {
            let text = refusal(&offer, asked, &[]);
            assert!(text.ends_with("is not referenced and cannot be downloaded."), "{text}");
        }
        let text = refusal(&offer, "baseq3/pak0.pk3", &[]);
        assert_eq!(text, "Cannot autodownload id pk3 file \"baseq3/pak0.pk3\"");
    }

    #[test]
    fn refusals_name_the_reason() {
        let packs = listed([pack("mod", "huge", 64 << 20)]);
        assert!(Offer::new(&packs, "baseoa", &[], false).packs().is_empty());
        let offer = Offer::new(&packs, "baseoa", &[], true);
        let asked = "mod/huge.pk3";
        assert!(
            refusal(&offer, asked, &[("sv_allowDownload", "0")]).contains("disabled on the server")
        );
        assert!(
            refusal(&offer, asked, &[("sv_allowDownload", "5")]).contains("disabled on the server")
        );
        let text = refusal(&offer, asked, &[("sv_dlURL", "http://example.org")]);
        assert!(text.contains("Get it at http://example.org/mod/huge.pk3"), "{text}");
    }
}
