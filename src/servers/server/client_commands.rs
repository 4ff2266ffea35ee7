//! Client commands: those of the engine, and flood protection of those for the game.
//!
//! Invariant: a command that is ignored counts as received. Source: Quake III protocol 68, reliable
//! commands; the limits are Quake3e's. Engine names: `SV_ExecuteClientCommand`, `sv_floodProtect`.

use super::{
    client::store_userinfo,
    console::logins,
    core::Core,
    downloads::commands::{CommandConsequence, DOWNLOAD_COMMANDS, DownloadRequester},
    moderation,
    pure::{PureState, check_proof},
    state::Server,
};
use crate::{
    limits::BucketLimit,
    model::{ClientNum, CommandArgs, Millis, text},
    observe::Counter,
    serving::connection::{LEFT, Service as _},
    settings::key,
    wire::userinfo::check_userinfo,
};

/// Limit of commands for the game with flood protection.
const COMMANDS: BucketLimit = BucketLimit { burst: 8, period: Millis(500) };
/// Longest argument in bytes; the rest is truncated.
const MAX_ARGUMENT_LEN: usize = 255;

/// A command that the engine handles.
struct EngineCommand {
    name: &'static str,
    /// Returns false if the client must resend the command: the rest of the message is ignored.
    run: fn(&mut Server, ClientNum, &CommandArgs) -> bool,
}

const ENGINE_COMMANDS: &[EngineCommand] = &[
    EngineCommand { name: "userinfo", run: handle_userinfo },
    EngineCommand {
        name: "disconnect",
        run: |server, number, _| {
            server.drop_client(number, LEFT);
            true
        },
    },
    EngineCommand { name: "cp", run: handle_cp },
    EngineCommand { name: "cl_paks", run: handle_cp },
    EngineCommand { name: "vdr", run: handle_vdr },
    // Voice: sent unasked, and ignored.
    EngineCommand { name: "voip", run: |_, _, _| true },
];

/// Runs a command. Returns false if the client must resend it, as if it had not arrived.
pub(super) fn run_client_command(server: &mut Server, number: ClientNum, line: &str) -> bool {
    let mut words = CommandArgs::parse(line);
    if let Some(command) = ENGINE_COMMANDS.iter().find(|c| c.name == words.command()) {
        return (command.run)(server, number, &words);
    }
    if let Some((_, run)) = DOWNLOAD_COMMANDS.iter().find(|(name, _)| *name == words.command()) {
        let Core { clients, downloads, settings, stats, now, .. } = &mut server.core;
        let Some(client) = clients.get_mut(number) else { return true };
        let mut asking =
            DownloadRequester { number, client, downloads, settings, stats, now: *now };
        match run(&mut asking, &words) {
            CommandConsequence::Nothing => {}
            CommandConsequence::Unsupported => {
                let map = server.core.level.map.clone();
                let text = format!("This protocol has no downloads. Install the map {map}.");
                server.drop_client(number, &text);
            }
            CommandConsequence::Broken => server.drop_client(number, "broken download"),
            CommandConsequence::Gamestate => server.send_gamestate(number),
        }
        return true;
    }
    let now = server.core.now;
    let limited = server.core.settings.flag(key::SV_FLOOD_PROTECT);
    let Some(client) = server.core.clients.get_mut(number) else { return true };
    if !client.has_level() {
        return true;
    }
    if limited && !client.own.buckets.commands.allows(now, COMMANDS) {
        server.core.stats.bump(Counter::CommandsOverLimit);
        return true;
    }
    if logins::take_command(server, number, &words) {
        server.core.stats.bump(Counter::ClientCommands);
        return true;
    }
    if moderation::refuses_chat(&mut server.core, number, words.command()) {
        return true;
    }
    words.for_each_mut(|word| *word = clean_argument(word));
    server.core.stats.bump(Counter::ClientCommands);
    server.enter_game(|game, host| game.client_command(host, number, &words));
    server.process_pending_drops();
    true
}

/// Replaces the userinfo of a client.
fn handle_userinfo(server: &mut Server, number: ClientNum, words: &CommandArgs) -> bool {
    let now = server.core.now;
    let Some(client) = server.core.clients.get_mut(number) else { return true };
    if !client.allows_userinfo(now) {
        server.core.stats.bump(Counter::CommandsOverLimit);
        return false;
    }
    let ip = client.remote.address().ip().to_canonical().to_string();
    match check_userinfo(words.get(1)) {
        Ok(mut info) => {
            if info.set("ip", &ip).is_err() {
                server.drop_client(number, "userinfo string length exceeded");
                return true;
            }
            let Core { clients, settings, .. } = &mut server.core;
            store_userinfo(clients, settings, number, info);
            if moderation::drop_if_banned(server, number) {
                server.process_pending_drops();
                return true;
            }
            server.enter_game(|game, host| game.client_userinfo_changed(host, number));
            server.process_pending_drops();
        }
        // The old userinfo stays.
        Err(fault) => {
            server.core.connections().log_client_error(number, Counter::BadUserinfo, fault)
        }
    }
    true
}

/// Checks the proof of a client on a pure server.
fn handle_cp(server: &mut Server, number: ClientNum, words: &CommandArgs) -> bool {
    let Core { clients, pure, level, .. } = &mut server.core;
    let Some(client) = clients.get_mut(number) else { return true };
    if let Err(reason) = check_proof(pure.as_ref(), level, client, words) {
        server.drop_client(number, &reason);
    }
    true
}

/// Waits for another proof: the client loads its files again.
fn handle_vdr(server: &mut Server, number: ClientNum, _: &CommandArgs) -> bool {
    if let Some(client) = server.core.clients.get_mut(number) {
        client.own.pure = PureState::default();
    }
    true
}

/// Removes line breaks and separators from an argument and truncates it.
fn clean_argument(word: &str) -> String {
    let separators = |c: char| if matches!(c, '\n' | '\r' | ';') { ' ' } else { c };
    text::truncated(word, MAX_ARGUMENT_LEN).chars().map(separators).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_protection_help_names_its_limits() {
        let help = key::SV_FLOOD_PROTECT.setting().help;
        let BucketLimit { burst, period } = COMMANDS;
        assert!(help.contains(&format!("{burst} at once, then one per {} ms", period.0)), "{help}");
    }
}
