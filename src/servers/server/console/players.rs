//! Players that console commands name, by slot or name.
//!
//! Source: console commands of Quake III servers. Engine names: `SV_GetPlayerByHandle`, `SV_GetPlayerByNum`.

use crate::{
    model::{ClientNum, text},
    server::core::Core,
};

/// Why a client was not found.
pub(super) enum PlayerLookupError {
    BadSlot(usize),
    NotActive(usize),
    NoSuchName(String),
}

impl std::fmt::Display for PlayerLookupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BadSlot(slot) => write!(f, "Bad client slot: {slot}"),
            Self::NotActive(slot) => write!(f, "Client {slot} is not active"),
            Self::NoSuchName(name) => write!(f, "Player {name} is not on the server"),
        }
    }
}

/// Returns the client of a slot.
pub(super) fn player_in(core: &Core, slot: usize) -> Result<ClientNum, PlayerLookupError> {
    let number = ClientNum::new(slot).filter(|number| number.index() < core.slots());
    let number = number.ok_or(PlayerLookupError::BadSlot(slot))?;
    match core.clients.get(number) {
        Some(client) if !client.is_zombie() => Ok(number),
        None if core.bots.get(number).is_some() => Ok(number),
        _ => Err(PlayerLookupError::NotActive(slot)),
    }
}

/// Finds a client by slot, or by name: exactly, then without colors and case.
pub(super) fn find_player(core: &Core, wanted: &str) -> Result<ClientNum, PlayerLookupError> {
    // A number is a slot while that slot is used.
    let slot = wanted.parse::<usize>().ok().filter(|&slot| slot < core.slots());
    let of_slot = slot.map(|slot| player_in(core, slot));
    if let Some(Ok(number)) = of_slot {
        return Ok(number);
    }
    let plain = text::strip_colors(wanted);
    let bots = core.bots.iter().map(|(number, bot)| (number, &bot.name));
    let clients = core.clients.present().map(|(number, client)| (number, &client.name));
    let names: Vec<_> = clients.chain(bots).collect();
    let exact = names.iter().find(|(_, name)| name.as_str() == wanted);
    exact
        .or_else(|| {
            names.iter().find(|(_, name)| text::strip_colors(name).eq_ignore_ascii_case(&plain))
        })
        .map(|&(number, _)| number)
        .ok_or_else(|| match of_slot {
            Some(Err(error)) => error,
            _ => PlayerLookupError::NoSuchName(wanted.to_owned()),
        })
}
