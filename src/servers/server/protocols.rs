//! Older protocols that a server accepts: 43, 45, 66 and 67.
//!
//! Clients of 43 and 45 drop the connection for numbers that their game lacks, so they are accepted only while the level
//! has a game version and a game type that they know. Source: protocols 43 to 67; game numbers of 1.16n.

use super::core::Core;
use crate::{
    bg::configstring::GAME_VERSION,
    model::ClientNum,
    settings::{ScrambledProtocol, key},
    wire::Protocol,
};

/// Game version that clients of 43 and 45 compare.
const VERSION: &str = "baseq3-1";
/// Last game type that they have: capture the flag.
const LAST_GAME_TYPE: i32 = 4;

/// Row of an accepted number and whether the number alone tells it, or why it is not accepted.
type Accepted = Result<(&'static Protocol, bool), Option<String>>;

/// Returns the row of an older number; `None` for a number of today.
pub(super) fn older(core: &Core, number: i32) -> Option<Accepted> {
    let settings = &core.settings;
    match number {
        43 if settings.flag(key::SV_PROTOCOL43) => Some(of_release_116(core, Protocol::Q3_43)),
        45 if settings.flag(key::SV_PROTOCOL45) => Some(of_release_116(core, Protocol::Q3_45)),
        66 => scrambled(settings.choice(key::SV_PROTOCOL66), Protocol::Q3_66),
        67 => scrambled(settings.choice(key::SV_PROTOCOL67), Protocol::Q3_67),
        _ => None,
    }
}

/// Whether the level that is loaded has the game version of clients of 43 and 45.
pub(super) fn has_numbers(core: &Core) -> bool {
    core.level.configstrings.get(GAME_VERSION) == VERSION
}

/// Logs that the port for protocol 43 announces a level that such clients cannot play.
pub(super) fn check_port_43(core: &Core) {
    if core.settings.int(key::NET_PORT43) == 0 {
        return;
    }
    let reason = match older(core, Protocol::Q3_43.number) {
        Some(Ok(_)) => return,
        Some(Err(reason)) => reason.unwrap_or_default(),
        None => "sv_protocol43 is 0.".to_owned(),
    };
    log::warn!("net_port43: clients of protocol 43 are refused: {reason} Set game to baseq3");
}

/// Returns why the level that was loaded cannot be played with the protocol of a client, if so.
pub(super) fn refusal_of(core: &Core, number: ClientNum) -> Option<String> {
    let protocol = core.clients.get(number)?.channel.protocol();
    older(core, protocol.number)?.err().flatten()
}

fn of_release_116(core: &Core, protocol: &'static Protocol) -> Accepted {
    let number = protocol.number;
    let version = core.level.configstrings.get(GAME_VERSION);
    if !version.is_empty() && !has_numbers(core) {
        let text = format!("This server plays {version}, which protocol {number} does not have.");
        return Err(Some(text));
    }
    let game_type = core.settings.int(key::G_GAMETYPE);
    if game_type > LAST_GAME_TYPE {
        let text = format!("Protocol {number} does not have game type {game_type}.");
        return Err(Some(text));
    }
    Ok((protocol, true))
}

fn scrambled(choice: ScrambledProtocol, scrambled: &'static Protocol) -> Option<Accepted> {
    match choice {
        ScrambledProtocol::Off => None,
        ScrambledProtocol::Auto => Some(Ok((scrambled, false))),
        ScrambledProtocol::Xor => Some(Ok((scrambled, true))),
        ScrambledProtocol::None => Some(Ok((scrambled.next_with_number(), true))),
    }
}
