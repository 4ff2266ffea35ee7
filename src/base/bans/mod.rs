//! Bans, exceptions and mutes: entries by network, GUID and name, with reason and expiry.
//!
//! | type | content |
//! |---|---|
//! | [`Entry`], [`Subject`] | one entry, and the clients that it is about |
//! | [`BanList`] | all entries, with a lookup that does not depend on their number |
//! | [`BanStore`], [`run`] | list with its state file; console commands of every role that has a list |
//! | [`Span`] | length of a ban, e.g. `30m` |
//!
//! [`BanList::parse`] and [`BanList::to_text`] read and write the state file, [`parse_serverbans`] and
//! [`serverbans_text`] the list of ioquake3. Invariants: number and length of entries are bounded; texts have no
//! control characters; an IPv4 address inside IPv6 counts as IPv4; calendar time is an argument.
//! Source: ban commands of ioquake3; the other subjects are those of Quake3e and OpenArena.

mod commands;
mod entry;
mod file;
mod list;
mod name_pattern;
mod players;
mod serverbans;
mod span;
mod store;
mod subject;

pub use commands::{
    BAN, BANADDR, BANDEL, COMMANDS, CommandHelp, EXCEPTADDR, EXCEPTDEL, EXPORTBANS, FLUSHBANS,
    IMPORTBANS, LISTBANS, MUTE, Moderated, Named, REHASHBANS, UNBAN, UNMUTE, add, draft, remove,
    run,
};
pub use entry::{Draft, Entry, EntryKind, MAX_AUTHOR_LEN, MAX_REASON_LEN, bounded_text};
pub use file::FileFault;
pub use list::{AddError, BanList, Client, MAX_ENTRIES, MAX_PATTERNS};
pub use name_pattern::NamePattern;
pub use serverbans::{parse_serverbans, serverbans_text};
pub use span::{Span, is_time_like};
pub use store::{BanStore, CommandAuthor};
pub use subject::{Subject, SubjectError, parse_mask, parse_network};
