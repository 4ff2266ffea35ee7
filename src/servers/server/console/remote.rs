//! Remote console: requests to run commands, and their output in packets.
//!
//! Source: Quake III protocol 68, rcon. Engine names: `SVC_RemoteCommand`.

use super::{audit, run_line};
use crate::{
    model::text,
    node::Route,
    observe::{Counter, LogEvent},
    server::{
        audit::Actor,
        core::Core,
        moderation::is_address_banned,
        rcon::{RconDecision, decide, packets},
        state::Server,
    },
    settings::{key, masked_line},
    wire::connectionless::{Message, Rcon},
};

/// Runs a remote command, or rejects it.
pub(in crate::server) fn handle_rcon(server: &mut Server, route: Route, request: Rcon<'_>) {
    // Other networks are refused before a list is searched.
    let may_ask = server.core.settings.networks(key::SV_RCON_ALLOW).contains(route.remote.ip());
    let is_banned = may_ask && is_address_banned(&server.core, route);
    let Core { settings, rcon, now, clients, .. } = &mut server.core;
    let (now, from) = (*now, route.remote);
    let is_client =
        || clients.iter().any(|(_, client)| client.is_active() && client.remote.address() == from);
    let decision = if is_banned {
        RconDecision::Refused(None)
    } else {
        decide(rcon, settings, now, from, is_client, request.password)
    };
    match decision {
        RconDecision::Granted => {
            server.core.stats.bump(Counter::RconAccepted);
            let command = request.command.to_string();
            let shown = masked_line(&command);
            log::info!("{from} rcon: {}", text::escaped(shown.as_bytes()));
            server.core.console.redirect();
            audit::record_access(server, from);
            server.core.bans.set_remote(Some(from.ip()));
            server.core.audit.actor = Actor::Rcon(from);
            run_line(server, &command);
            server.core.audit.actor = Actor::Console;
            server.core.bans.set_remote(None);
            let output = server.core.console.end_redirect();
            let mut connections = server.core.connections();
            for packet in packets(&output) {
                connections.answer(route, |out| Message::Print(packet.as_str().into()).write(out));
            }
        }
        RconDecision::Refused(answer) => {
            server.core.stats.bump(Counter::RconRefused);
            if let Some(suppressed) = server.core.stats.allows_log(LogEvent::BadRcon, now) {
                log::warn!("{from} rcon rejected{suppressed}");
                audit::record_refusal(server, from);
            }
            if let Some(text) = answer {
                let mut connections = server.core.connections();
                connections.answer(route, |out| Message::Print(text.into()).write(out));
            }
        }
    }
}
