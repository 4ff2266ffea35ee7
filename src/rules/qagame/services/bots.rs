//! Services of the bot library: settings, bots, script parser. Navigation and characters are missing.
//!
//! Setup fails, so that modules run without bots of the library. Bots that a module moves itself work. Calls
//! without a function here return 0 and write empty results.
//! Source: the game interface, version 8. Engine names: `botlib_export_t`, `SV_BotClientCommand`.

use super::{Answer, Session, client, files::SEARCH_COST, invalid, text};
use crate::{
    game::BotLink,
    model::{CommandArgs, UserCmd, assets::GamePath},
    qagame::{
        Entry, entry_words,
        script::{MAX_TOKEN_LEN, Script, Token},
    },
    qvm::{FaultKind, Machine, ServiceCall},
};

/// Answer of a setup or map load: the library is not available.
const NOT_AVAILABLE: i32 = 1;
/// Longest script, in bytes.
const MAX_SCRIPT_LEN: usize = 1 << 20;
/// Offset of the text in a token record, and the size of the record.
const TOKEN_TEXT_OFFSET: usize = 16;
const TOKEN_RECORD_LEN: usize = TOKEN_TEXT_OFFSET + MAX_TOKEN_LEN + 1;
/// Longest client command of a bot, in bytes.
const MAX_COMMAND_LEN: usize = 1022;

impl Session<'_, '_> {
    pub(super) fn bot_library(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [first, second, third, fourth, ..] = call.arguments;
        match call.number {
            200 => {
                if self.state.library.set_up() {
                    self.host.print("bot library: not available; the module runs without bots");
                }
                Ok(NOT_AVAILABLE)
            }
            206 => Ok(NOT_AVAILABLE),
            202 => {
                let (name, value) = (text(machine, first)?, text(machine, second)?);
                self.state.library.set(&name, &value);
                Ok(0)
            }
            203 => {
                let name = text(machine, first)?;
                let value = self.state.library.get(&name);
                machine.memory_mut().write_text(second, third, value.as_bytes()).map(|()| 0)
            }
            209 => {
                let link = client(first).and_then(|client| self.host.bot(client));
                let seen = link.zip(usize::try_from(second).ok());
                let seen = seen.and_then(|(link, index)| link.seen.iter().nth(index));
                Ok(seen.map_or(-1, |number| number.index() as i32))
            }
            210 => {
                let link = client(first).and_then(|client| self.host.bot(client));
                let command = link.and_then(BotLink::next_command);
                let bytes = command.as_deref().unwrap_or_default().as_bytes();
                machine.memory_mut().write_text(second, third, bytes)?;
                Ok(i32::from(command.is_some()))
            }
            211 => self.bot_usercmd(machine, call),
            400..=402 => self.bot_command(machine, call),
            578 => self.load_script(machine, first),
            579 => Ok(i32::from(self.state.library.free_script(first))),
            580 => self.read_token(machine, first, second),
            581 => self.script_position(machine, call),
            // Texts.
            311 => empty(machine, third, fourth),
            506 | 570 => empty(machine, third, call.arguments[3]),
            519 => empty(machine, third, fourth),
            532 => empty(machine, second, third),
            // Records and vectors.
            303 => zero(machine, second, 140),
            305 => zero(machine, second, 12).and_then(|_| zero(machine, third, 12)),
            312 => zero(machine, third, 12),
            313 | 314 => zero(machine, third, 4),
            422 => zero(machine, third, 40),
            549 => zero(machine, first, 52),
            559 => zero(machine, third, 4),
            _ => Ok(0),
        }
    }

    /// Moves a bot: its think entry runs within this service.
    fn bot_usercmd(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [number, address, ..] = call.arguments;
        let bytes = machine.memory().bytes(address, size_of::<UserCmd>())?;
        let command: UserCmd = bytemuck::pod_read_unaligned(bytes);
        let Some(client) = client(number) else { return Ok(0) };
        let Some(link) = self.host.bot(client) else { return Ok(0) };
        link.last_usercmd = command;
        let outer = self.state.thinker.replace((client, command));
        let result = machine.enter(self, &entry_words(Entry::ClientThink, &[number]));
        self.state.thinker = outer;
        result.map(|_| 0).map_err(FaultKind::from)
    }

    /// Runs a client command of a bot: its command entry runs within this service.
    fn bot_command(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [number, address, ..] = call.arguments;
        let mut line = text(machine, address)?;
        if client(number).and_then(|client| self.host.bot(client)).is_none() {
            return Ok(0);
        }
        if line.len() > MAX_COMMAND_LEN {
            return Err(invalid(call, "length of a command", line.len() as i32));
        }
        match call.number {
            400 => line.insert_str(0, "say "),
            401 => line.insert_str(0, "say_team "),
            _ => {}
        }
        let outer = std::mem::replace(&mut self.state.words, CommandArgs::parse(&line));
        let result = machine.enter(self, &entry_words(Entry::ClientCommand, &[number]));
        self.state.words = outer;
        result.map(|_| 0).map_err(FaultKind::from)
    }

    /// Opens a script of the game data. Returns its handle, or 0.
    fn load_script(&mut self, machine: &mut Machine, name: i32) -> Answer {
        let name = text(machine, name)?;
        machine.charge(SEARCH_COST)?;
        let path = GamePath::new(name.as_bytes());
        let bytes = path.and_then(|path| self.host.files()?.read(&path));
        let Some(bytes) = bytes.filter(|bytes| bytes.len() <= MAX_SCRIPT_LEN) else { return Ok(0) };
        machine.charge(bytes.len() as u64)?;
        Ok(self.state.library.open(Script::new(&name, bytes)).unwrap_or(0))
    }

    /// Writes the next token of a script. Returns 0 at its end.
    fn read_token(&mut self, machine: &mut Machine, handle: i32, record: i32) -> Answer {
        let Some(script) = self.state.library.script(handle) else { return Ok(0) };
        let before = script.position();
        let token = script.next_token();
        machine.charge((script.position() - before) as u64)?;
        let Some(Token { kind, subtype, integer, float, text }) = token else { return Ok(0) };
        let bytes = machine.memory_mut().bytes_mut(record, TOKEN_RECORD_LEN)?;
        let (words, string) = bytes.split_at_mut(TOKEN_TEXT_OFFSET);
        let values = [kind, subtype, integer, float.to_bits() as i32];
        for (target, value) in words.chunks_exact_mut(4).zip(values) {
            target.copy_from_slice(&value.to_le_bytes());
        }
        string.fill(0);
        string.iter_mut().zip(text).for_each(|(target, byte)| *target = byte);
        Ok(1)
    }

    /// Writes name and line of a script.
    fn script_position(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [handle, name, line, ..] = call.arguments;
        let Some(script) = self.state.library.script(handle) else { return Ok(0) };
        let size = script.name.len() as i32 + 1;
        machine.memory_mut().write_text(name, size, script.name.as_bytes())?;
        machine.memory_mut().set_i32(line, script.line)?;
        Ok(1)
    }
}

/// Writes an empty text.
fn empty(machine: &mut Machine, buffer: i32, size: i32) -> Answer {
    machine.memory_mut().write_text(buffer, size, b"").map(|()| 0)
}

/// Zeroes a record.
fn zero(machine: &mut Machine, address: i32, length: usize) -> Answer {
    machine.memory_mut().bytes_mut(address, length)?.fill(0);
    Ok(0)
}
