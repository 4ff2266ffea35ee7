//! Translation of a demo's content to the numbers and texts of 1.32.
//!
//! The reader keeps what was recorded, because deltas refer to it. This is what a client of protocol 68 must be
//! shown instead. Source: protocol 43 of 1.16n; keys of player strings of 1.32.

use std::{borrow::Cow, sync::Arc};

use crate::{
    model::{CommandArgs, ConfigIndex, EntityState, limits::MAX_STRING_LEN},
    wire::{Protocol, info::InfoString, numbers::is_player_entry},
};

use super::reader::{DemoReader, DemoSnapshot};

/// Keys of a player string that older servers do not send, and the keys whose values they get.
const PLAYER_KEYS: [(&str, Option<&str>); 4] =
    [("hmodel", Some("model")), ("c2", Some("c1")), ("tt", None), ("tl", None)];
/// Key of the systeminfo, as older servers spell it and as those of 1.32 do.
const SPELLINGS: [&str; 2] = ["g_syncronousClients", "g_synchronousClients"];

/// Translation of the demos of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Translation {
    from: &'static Protocol,
}

impl Translation {
    /// The translation of the demos of a protocol; `None` for those of Quake Live, whose game differs too much.
    #[must_use]
    pub fn of(protocol: &'static Protocol) -> Option<Self> {
        (!protocol.is_quake_live()).then_some(Self { from: protocol })
    }

    /// Whether it changes nothing, because current clients play the demos as they are.
    fn is_none(&self) -> bool {
        Protocol::CURRENT.contains(&self.from)
    }

    /// Returns a snapshot in numbers of 1.32.
    #[must_use]
    pub fn snapshot(&self, snapshot: &Arc<DemoSnapshot>) -> Arc<DemoSnapshot> {
        let numbers = self.from.numbers;
        if numbers.is_current() {
            return Arc::clone(snapshot);
        }
        Arc::new(DemoSnapshot {
            head: snapshot.head,
            player: numbers.received_player(&snapshot.player),
            entities: self.entities(&snapshot.entities),
            spares: snapshot.spares.clone(),
        })
    }

    /// Returns entities or baselines in numbers of 1.32.
    #[must_use]
    pub fn entities(&self, entities: &[EntityState]) -> Vec<EntityState> {
        let numbers = self.from.numbers;
        entities.iter().map(|entity| numbers.received_entity(entity)).collect()
    }

    /// Returns the configstrings of a reader at their places of 1.32. Those without a place are left out.
    pub fn configstrings<'a>(
        &'a self,
        reader: &'a DemoReader<'_>,
    ) -> impl Iterator<Item = (ConfigIndex, Cow<'a, str>)> {
        reader.configstrings().filter_map(|(index, text)| self.configstring(index, text))
    }

    /// Returns a configstring at its place of 1.32, or `None` if it has none.
    #[must_use]
    pub fn configstring<'a>(
        &self,
        index: ConfigIndex,
        text: &'a str,
    ) -> Option<(ConfigIndex, Cow<'a, str>)> {
        let index = self.from.numbers.received_index(index)?;
        Some((index, self.text(index, text)))
    }

    /// Text of a configstring at its place of 1.32. An empty one stays empty.
    fn text<'a>(&self, index: ConfigIndex, text: &'a str) -> Cow<'a, str> {
        let is_player = is_player_entry(index);
        let is_older = !self.from.numbers.is_current();
        match index {
            _ if text.is_empty() || self.is_none() => Cow::Borrowed(text),
            ConfigIndex::SERVERINFO => {
                let mut info = InfoString::parse_big(text);
                let _ = info.set("protocol", &Protocol::Q3_68.number.to_string());
                Cow::Owned(info.as_str().to_owned())
            }
            ConfigIndex::SYSTEMINFO if is_older => {
                let [older, newer] = SPELLINGS;
                Cow::Owned(text.replace(&format!("\\{older}\\"), &format!("\\{newer}\\")))
            }
            _ if is_player && is_older => Cow::Owned(player_text(text)),
            _ => Cow::Borrowed(text),
        }
    }

    /// Returns a command in numbers of 1.32, or `None` if 1.32 has no such configstring.
    #[must_use]
    pub fn command<'a>(&self, command: &'a str) -> Option<Cow<'a, str>> {
        let received = self.from.received_command(command)?;
        if self.is_none() || !received.starts_with("cs ") {
            return Some(received);
        }
        let words = CommandArgs::parse(&received);
        let index = words.get(1).parse().ok().and_then(ConfigIndex::new);
        let (Some(index), value) = (index, words.rest(2)) else { return Some(received) };
        let text = self.text(index, &value);
        let translated = format!("cs {index} \"{text}\"\n");
        // A client reads no longer command.
        let is_translated = text != value && translated.len() <= MAX_STRING_LEN;
        Some(if is_translated { Cow::Owned(translated) } else { received })
    }
}

/// Returns the string of a player with the keys of 1.32.
fn player_text(text: &str) -> String {
    let mut info = InfoString::parse(text);
    for (key, like) in PLAYER_KEYS {
        if info.get(key).is_none() {
            let value = like.map_or("0", |like| info.get(like).unwrap_or("")).to_owned();
            let _ = info.set(key, &value);
        }
    }
    info.as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_the_keys_of_current_servers() {
        let older = Translation::of(Protocol::Q3_43).expect("a translation");
        let at = |number| ConfigIndex::at(number);
        let player = older.configstring(at(545), r"\n\Ann\t\0\model\sarge/red\c1\4");
        let expected = r"\n\Ann\t\0\model\sarge/red\c1\4\hmodel\sarge/red\c2\4\tt\0\tl\0";
        assert_eq!(player, Some((at(545), expected.into())));
        let server = older.configstring(at(0), r"\mapname\q3dm1\protocol\43");
        assert_eq!(server, Some((at(0), r"\mapname\q3dm1\protocol\68".into())));
        let system = older.configstring(at(1), r"\sv_serverid\7\g_syncronousClients\0");
        assert_eq!(system, Some((at(1), r"\sv_serverid\7\g_synchronousClients\0".into())));
        assert_eq!(older.configstring(at(672), "Base"), Some((at(608), "Base".into())));
        assert_eq!(older.configstring(at(17), "x"), None);
        for (command, translated) in [
            ("cs 545 \"\"\n", Some("cs 545 \"\"\n")),
            ("cs 545 \"n\\Ann\"\n", Some("cs 545 \"\\n\\Ann\\tt\\0\\tl\\0\"\n")),
            ("bcs0 13 \"2\"", Some("bcs0 21 \"2\"")),
            ("bcs2 16 \"2\"", None),
            ("cs 13 \"250\"\n", Some("cs 21 \"250\"\n")),
            ("cs 16 \"250\"\n", None),
            ("print \"x\"", Some("print \"x\"")),
            ("scores 1 2 3 0 5 40 9 0 0", Some("scores 1 2 3 0 5 40 9 0 0 0 0 0 0 0 0 0 0")),
        ] {
            assert_eq!(older.command(command).as_deref(), translated, "{command}");
        }
        let later = Translation::of(Protocol::Q3_67).expect("a translation");
        let command = later.command("cs 0 \"\\protocol\\67\"");
        assert_eq!(command.as_deref(), Some("cs 0 \"\\protocol\\68\"\n"));
        assert!(Translation::of(Protocol::QL_91).is_none());
        let none = Translation::of(Protocol::IOQ3_71).expect("a translation");
        assert_eq!(
            none.configstring(at(0), r"\protocol\71"),
            Some((at(0), r"\protocol\71".into()))
        );
    }
}
