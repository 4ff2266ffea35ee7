//! Services of the server for a game module, by number. The machine serves 100 to 111, the C library.
//!
//! ```text
//! 0..=45 server and world   200..=599 bot library
//! ```
//!
//! Invariants: an argument that the module may not pass is a fault that names the service; the work of a service is
//! charged to the entry's budget before it is done. Source: the game interface, version 8.
//! Engine names: `SV_GameSystemCalls`.

mod bots;
mod files;
mod strings;
mod world;

use super::{Entry, State, entry_words};
use crate::{
    game::Host,
    model::{ClientNum, ConfigIndex},
    qvm::{FaultKind, Machine, ServiceCall, Services},
};

/// Longest text that a module passes, in bytes.
const MAX_TEXT_LEN: usize = 16_384;
/// Longest text of an error that a module raises, in bytes, as in the engine.
const MAX_ERROR_LEN: usize = 1023;
/// Cost of a service, in instructions of the budget.
const COST: u64 = 300;
/// Cost of a service that searches the map or the entities, or that has work for each client.
const QUERY_COST: u64 = 1000;
/// Cost of the serverinfo.
const SERVERINFO_COST: u64 = 50_000;
/// Cost of a byte that is printed.
const PRINT_COST: u64 = 16;
/// Most server commands to one client in one entry. A client that does not keep up with more is dropped.
const MAX_COMMANDS: u16 = 240;

/// Services of one entry: the host, and the state of the module.
pub(super) struct Session<'h, 's> {
    pub(super) host: &'h mut dyn Host,
    pub(super) state: &'s mut State,
}

type Answer = Result<i32, FaultKind>;

impl Services for Session<'_, '_> {
    fn call(&mut self, machine: &mut Machine, call: ServiceCall) -> Answer {
        match call.number {
            // It is built from all settings.
            22 => machine.charge(SERVERINFO_COST)?,
            // A search of the map or the entities, or work for each client.
            3 | 5 | 14 | 16..=18 | 21 | 23..=27 | 32..=34 | 43 | 44 => {
                machine.charge(QUERY_COST)?
            }
            _ => machine.charge(COST)?,
        }
        match call.number {
            0..=9 | 14 | 18..=22 => self.strings(machine, &call),
            10..=13 | 38 | 45 => self.files(machine, &call),
            16 => self.drop_client(machine, &call),
            17 => self.send_command(machine, &call),
            34 => Ok(self.host.allocate_bot().map_or(-1, |number| number.index() as i32)),
            35 => {
                if let Some(client) = client(call.arguments[0]) {
                    self.host.free_bot(client);
                }
                Ok(0)
            }
            // Debug polygons: a dedicated server draws none.
            39 | 40 => Ok(0),
            36 => self.usercmd(machine, &call),
            15 | 23..=33 | 37 | 42..=44 => self.world(machine, &call),
            41 => self.real_time(machine, &call),
            200..=599 => self.bot_library(machine, &call),
            number => Err(FaultKind::UnknownService(number)),
        }
    }
}

impl Session<'_, '_> {
    /// Drops a client. The module's own disconnect entry runs within this service.
    fn drop_client(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [number, reason, ..] = call.arguments;
        let Some(client) = client(number) else { return Ok(0) };
        let reason = text(machine, reason)?;
        let Self { host, state } = self;
        let mut nested = Ok(0);
        host.drop_client_now(client, &reason, &mut |host| {
            let mut session = Session { host, state };
            let words = entry_words(Entry::ClientDisconnect, &[number]);
            nested = machine.enter(&mut session, &words);
        });
        nested.map(|_| 0).map_err(FaultKind::from)
    }

    fn send_command(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [number, address, ..] = call.arguments;
        let to = match number {
            -1 => None,
            number => match client(number) {
                Some(client) => Some(client),
                None => return Ok(0),
            },
        };
        let text = text(machine, address)?;
        for client in ClientNum::all().filter(|client| to.is_none_or(|to| to == *client)) {
            let count = &mut self.state.commands_sent[client.index()];
            if *count == MAX_COMMANDS {
                let reason = format!("too many server commands in one entry (max {MAX_COMMANDS})");
                return Err(FaultKind::Service { number: call.number, reason });
            }
            *count += 1;
        }
        self.host.send_command(to, &text);
        Ok(0)
    }

    fn usercmd(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [number, address, ..] = call.arguments;
        let client = client(number).ok_or_else(|| invalid(call, "client", number))?;
        let command = match self.state.thinker {
            Some((thinker, command)) if thinker == client => command,
            _ => self.host.usercmd(client),
        };
        let bytes = bytemuck::bytes_of(&command);
        machine.memory_mut().bytes_mut(address, bytes.len())?.copy_from_slice(bytes);
        Ok(0)
    }

    /// Writes the calendar time in UTC. Returns seconds since 1970.
    fn real_time(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let seconds = self.host.calendar_time().map_or(0, |time| time.0 / 1000);
        let date = crate::model::CalendarDate::of_seconds(seconds);
        let [year, month, day] = [date.year, date.month, date.day].map(|part| part as i32);
        let (second, minute, hour) = (seconds % 60, seconds / 60 % 60, seconds / 3600 % 24);
        let fields = [
            second as i32,
            minute as i32,
            hour as i32,
            day,
            month - 1,
            year - 1900,
            date.weekday as i32,
            date.day_of_year as i32,
            0,
        ];
        let address = call.arguments[0];
        if address != 0 {
            let record = machine.memory_mut().bytes_mut(address, size_of_val(&fields))?;
            record.copy_from_slice(bytemuck::bytes_of(&fields));
        }
        Ok(seconds as i32)
    }
}

/// Returns a text of the module and charges its length; empty for the null pointer.
fn text(machine: &mut Machine, address: i32) -> Result<String, FaultKind> {
    if address == 0 {
        return Ok(String::new());
    }
    let bytes = machine.memory().text(address, MAX_TEXT_LEN)?;
    let text = String::from_utf8_lossy(bytes).into_owned();
    machine.charge(text.len() as u64)?;
    Ok(text)
}

fn client(number: i32) -> Option<ClientNum> {
    usize::try_from(number).ok().and_then(ClientNum::new)
}

fn config_index(call: &ServiceCall) -> Result<ConfigIndex, FaultKind> {
    let number = call.arguments[0];
    let index = usize::try_from(number).ok().and_then(ConfigIndex::new);
    index.ok_or_else(|| invalid(call, "configstring", number))
}

/// Fault of a service whose argument is out of range.
fn invalid(call: &ServiceCall, what: &str, value: i32) -> FaultKind {
    FaultKind::Service { number: call.number, reason: format!("invalid {what} {value}") }
}
