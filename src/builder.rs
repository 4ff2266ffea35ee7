//! Server builder: settings, game data, entropy and rules to a running server.

use crate::{
    game::{Deathmatch, Flight, Ruleset, movement::PmoveVariant},
    model::{
        UnixMillis,
        assets::{Assets, MemoryAssets},
    },
    server::{GameFactory, Geometry, Server, ServerStart},
    settings::{Choice as _, Settings, key},
};

/// Builder of a [`Server`]; see [`Server::builder`].
pub struct ServerBuilder {
    settings: Settings,
    entropy: [u8; 32],
    assets: Box<dyn Assets>,
    rules: Option<GameFactory>,
    started_at: Option<UnixMillis>,
}

impl Server {
    /// Starts to build a server. `entropy` must come from a cryptographic random source: challenges are
    /// keyed with it.
    #[must_use]
    pub fn builder(settings: Settings, entropy: [u8; 32]) -> ServerBuilder {
        let assets = Box::new(MemoryAssets::default());
        ServerBuilder { settings, entropy, assets, rules: None, started_at: None }
    }
}

impl ServerBuilder {
    /// Sets the source of game files. Without one the server runs free flight.
    #[must_use]
    pub fn assets(mut self, assets: impl Assets + 'static) -> Self {
        self.assets = Box::new(assets);
        self
    }

    /// Sets the rules factory. Without one the settings choose the rules: see [`rules_of`].
    #[must_use]
    pub fn rules(mut self, rules: GameFactory) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Sets the calendar time at the zero of the server's clock, for `g_timestamp`.
    #[must_use]
    pub fn started_at(mut self, at: Option<UnixMillis>) -> Self {
        self.started_at = at;
        self
    }

    /// Creates the server and loads its first level.
    #[must_use]
    pub fn build(self) -> Server {
        let Self { settings, entropy, assets, rules, started_at } = self;
        let rules = rules.unwrap_or_else(|| rules_of(&settings));
        Server::new(settings, assets, rules, ServerStart { entropy, epoch: started_at })
    }
}

/// Returns the rules factory that the settings name. It makes deathmatch on maps and free flight without
/// geometry, with the ruleset of `game` and the movement of `g_movement`.
#[must_use]
pub fn rules_of(settings: &Settings) -> GameFactory {
    let ruleset = Ruleset::of_folder(settings.choice(key::GAME).name()).unwrap_or(Ruleset::BASEOA);
    let movement = settings.choice(key::G_MOVEMENT).name();
    let variant = PmoveVariant::named(movement).unwrap_or(PmoveVariant::of_ruleset(ruleset));
    Box::new(move |geometry| match geometry {
        Geometry::Map => Box::new(Deathmatch::moving_as(variant)),
        Geometry::None => Box::new(Flight::new(variant.ruleset)),
    })
}
