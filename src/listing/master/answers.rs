//! Answers to list requests.
//!
//! A walk starts at a random server and wraps around, so that none is always first. Servers whose address
//! spells the end mark (69.79.84.x) come last, because clients of protocol 68 stop reading there.

use std::net::SocketAddr;

use crate::{
    discovery::{Family, GAMES, Game, ListFormat, quake4},
    model::Millis,
    node::Route,
    wire::{
        connectionless::{ListFilter, ListRequest},
        text::WireText,
    },
};

use super::{
    counters::MasterCounter,
    node::Master,
    registry::{List, ListKey, Listed, Registry, spells_end_mark},
};

impl Master {
    /// Handles `getservers` and `getserversExt`.
    pub(super) fn answer_list(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        request: &ListRequest<'_>,
    ) {
        let game = match request.game {
            Some(game) => Some(game),
            None if request.extended => {
                return self.counters.bump(MasterCounter::ListsInvalid);
            }
            None => self.game_of_protocol(request.protocol),
        };
        if let Some(name) = game
            && !self.games.accepts(name)
        {
            return self.counters.bump(MasterCounter::ListsInvalid);
        }
        let name = game.map(|name| name.to_string()).unwrap_or_default();
        let lists_all = Game::by_name(WireText::from(&*name)).is_some_and(|game| game.lists_all);
        let format = if request.extended { ListFormat::Quake3Ext } else { ListFormat::Quake3 };
        let filter = Filter::of(format, &request.filter, lists_all);
        let key =
            ListKey { family: Family::Quake3, name: name.as_bytes(), protocol: request.protocol };
        self.send_list(now, route, len, format, key, |server| filter.allows(server));
    }

    /// Handles `getServers` of Quake 4. Names and clans of players are not kept, so they filter nothing.
    pub(super) fn answer_quake4(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        request: quake4::GetServers<'_>,
    ) {
        let protocol = (request.protocol & !quake4::PROTOCOL_FLAG).cast_signed();
        self.send_family(now, route, len, ListFormat::Quake4, protocol, |server| {
            quake4_allows(server, &request)
        });
    }

    /// Handles the list request of QuakeWorld.
    pub(super) fn answer_quakeworld(&mut self, now: Millis, route: Route, len: usize) {
        self.send_family(now, route, len, ListFormat::QuakeWorld, 0, |_| true);
    }

    fn send_family(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        format: ListFormat,
        protocol: i32,
        allows: impl Fn(&Listed) -> bool,
    ) {
        let Some(game) = Game::of_family(format.family()) else { return };
        if !self.games.accepts(WireText::from(game.name)) {
            return self.counters.bump(MasterCounter::ListsInvalid);
        }
        let key = ListKey { family: format.family(), name: game.name.as_bytes(), protocol };
        self.send_list(now, route, len, format, key, allows);
    }

    /// Game of a request without a name: by the table, or of the first list of a game without names.
    fn game_of_protocol(&self, protocol: i32) -> Option<WireText<'static>> {
        let known = Game::by_protocol(protocol).map(|game| WireText::from(game.name));
        known.or_else(|| {
            GAMES
                .iter()
                .filter(|game| game.family == Family::Quake3)
                .filter_map(|game| {
                    let name = game.name.as_bytes();
                    let key = ListKey { family: Family::Quake3, name, protocol };
                    let list = self.registry.list(key).filter(|list| list.anonymous > 0)?;
                    Some((list.born, game.name))
                })
                .min()
                .map(|(_, name)| WireText::from(name))
        })
    }

    /// Sends all servers of a list that `allows` selects; an empty answer if there is none.
    fn send_list(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        format: ListFormat,
        key: ListKey<'_>,
        allows: impl Fn(&Listed) -> bool,
    ) {
        if !self.questions.allows(now, route.remote) {
            self.counters.bump(MasterCounter::ListsLimited);
            return self.note(now, "list requests of one host exceed the flood protection");
        }
        let Some(half) = self.budget_half(now, route.remote) else { return };
        self.answers += 1;
        let start = self.key.hash(self.answers);
        let servers = select(&self.registry, self.registry.list(key), start, |server| {
            server.expires > now && allows(server)
        });
        let mut servers = servers.peekable();
        let (mut sent, mut packets) = (0, 0);
        loop {
            let mut is_last = false;
            sent += self.outbox.push_with(route, |out| is_last = format.write(out, &mut servers));
            packets += 1;
            if is_last {
                break;
            }
        }
        drop(servers);
        self.budget.charge(half, len, sent);
        self.counters.bump(MasterCounter::ListsAnswered);
        self.counters.add(MasterCounter::ListPackets, packets);
        self.counters.add(MasterCounter::BytesOut, sent as u64);
    }
}

/// Iterates over the public addresses of a list's servers, from a random one around.
fn select<'a>(
    registry: &'a Registry,
    list: Option<&'a List>,
    start: u64,
    allows: impl Fn(&Listed) -> bool + 'a,
) -> impl Iterator<Item = SocketAddr> + 'a {
    let members = list.map_or(&[][..], |list| &list.members);
    let start = (start % members.len().max(1) as u64) as usize;
    let around = move || members[start..].iter().chain(&members[..start]);
    let of_pass = move |spells_end: bool| {
        around()
            .filter_map(move |slot| registry.get(*slot))
            .filter(move |server| spells_end_mark(server.public) == spells_end)
    };
    let last = registry.has_end_marks().then(|| of_pass(true)).into_iter().flatten();
    of_pass(false).chain(last).filter(move |server| allows(server)).map(|server| server.public)
}

/// Filter of the Quake III family.
struct Filter<'a> {
    empty: bool,
    full: bool,
    game_type: Option<WireText<'a>>,
    v4: bool,
    v6: bool,
}

impl<'a> Filter<'a> {
    fn of(format: ListFormat, asked: &ListFilter<'a>, lists_all: bool) -> Self {
        let both = asked.ipv4 == asked.ipv6;
        Self {
            empty: asked.empty || lists_all,
            full: asked.full || lists_all,
            game_type: asked.gametype,
            v4: both || asked.ipv4 || format == ListFormat::Quake3,
            v6: format == ListFormat::Quake3Ext && (both || asked.ipv6),
        }
    }

    fn allows(&self, server: &Listed) -> bool {
        let of_family = if server.public.is_ipv4() { self.v4 } else { self.v6 };
        of_family
            && (self.empty || !server.is_empty())
            && (self.full || !server.is_full())
            && self.game_type.is_none_or(|wanted| wanted == *server.description.game_type)
    }
}

/// Whether the filter of a Quake 4 request lets a server through.
fn quake4_allows(server: &Listed, request: &quake4::GetServers<'_>) -> bool {
    let description = &server.description;
    let password = match request.filter & 3 {
        1 => description.needs_password,
        2 => !description.needs_password,
        _ => true,
    };
    let occupied = match request.filter >> 2 & 3 {
        1 => !server.is_full(),
        2 => !server.is_full() && !server.is_empty(),
        _ => true,
    };
    let game_type = match request.filter >> 4 & 3 {
        1 => description.game_type.eq_ignore_ascii_case("DM"),
        2 => description.game_type.eq_ignore_ascii_case("Tourney"),
        3 => description.game_type.eq_ignore_ascii_case("Team DM"),
        _ => true,
    };
    let modification =
        request.game.is_empty() || request.game.eq_ignore_case(&description.modification);
    password && occupied && game_type && modification
}
