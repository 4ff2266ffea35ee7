//! Services for texts: console, settings, words of commands, configstrings, userinfo.

use super::{Answer, MAX_ERROR_LEN, PRINT_COST, Session, client, config_index, invalid, text};
use crate::{
    game::ConsoleTiming,
    model::text::{atoi, truncated},
    qagame::cvars::flags_of,
    qvm::{FaultKind, Machine, ServiceCall},
};

impl Session<'_, '_> {
    pub(super) fn strings(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [first, second, third, ..] = call.arguments;
        match call.number {
            0 => {
                let text = text(machine, first)?;
                machine.charge(text.len() as u64 * PRINT_COST)?;
                self.print(&text);
                Ok(0)
            }
            1 => {
                let text = text(machine, first)?;
                Err(FaultKind::Module(truncated(&text, MAX_ERROR_LEN).to_owned()))
            }
            2 => Ok(self.host.clock().0 as i32),
            3 => self.register(machine, call),
            4 => {
                let memory = machine.memory_mut();
                self.state.cvars.update(memory, self.host, first).map(|()| 0)
            }
            5 => {
                let (name, value) = (text(machine, first)?, text(machine, second)?);
                self.host.set_setting(&name, &value);
                Ok(0)
            }
            6 => Ok(atoi(self.host.setting(&text(machine, first)?))),
            7 => {
                let name = text(machine, first)?;
                copy(machine, second, third, self.host.setting(&name))
            }
            8 => Ok(i32::try_from(self.state.words.len()).unwrap_or(i32::MAX)),
            9 => {
                let word = usize::try_from(first).map_or("", |index| self.state.words.get(index));
                copy(machine, second, third, word)
            }
            14 => self.run_console(machine, call),
            18 => {
                let index = config_index(call)?;
                self.host.set_configstring(index, &text(machine, second)?);
                Ok(0)
            }
            19 => {
                let index = config_index(call)?;
                copy(machine, second, third, self.host.configstring(index))
            }
            20 => {
                let userinfo = client(first).map_or("", |client| self.host.userinfo(client));
                copy(machine, second, third, userinfo)
            }
            21 => {
                if let Some(client) = client(first) {
                    self.host.set_userinfo(client, &text(machine, second)?);
                }
                Ok(0)
            }
            22 => copy(machine, first, second, &self.host.serverinfo()),
            number => Err(FaultKind::UnknownService(number)),
        }
    }

    /// Prints whole lines; the module may end them by several calls.
    fn print(&mut self, text: &str) {
        self.state.line.push_str(text);
        while let Some(end) = self.state.line.find('\n') {
            let line: String = self.state.line.drain(..=end).collect();
            self.host.print(line.trim_end_matches('\n'));
        }
        if self.state.line.len() > super::MAX_TEXT_LEN {
            self.host.print(&std::mem::take(&mut self.state.line));
        }
    }

    fn register(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [record, name, default, flags, ..] = call.arguments;
        let (name, default) = (text(machine, name)?, text(machine, default)?);
        self.host.register_setting(&name, &default, flags_of(flags));
        if record != 0 {
            let memory = machine.memory_mut();
            let registered = self.state.cvars.register(memory, self.host, &name, record);
            registered.map_err(|reason| FaultKind::Service { number: call.number, reason })?;
        }
        Ok(0)
    }

    fn run_console(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [when, line, ..] = call.arguments;
        let timing = match when {
            0 => ConsoleTiming::Now,
            1 => ConsoleTiming::Insert,
            2 => ConsoleTiming::Append,
            _ => return Err(invalid(call, "time of a console command", when)),
        };
        self.host.run_console(timing, &text(machine, line)?);
        Ok(0)
    }
}

/// Copies a text into a buffer of the module.
fn copy(machine: &mut Machine, buffer: i32, size: i32, text: &str) -> Answer {
    machine.memory_mut().write_text(buffer, size, text.as_bytes()).map(|()| 0)
}
