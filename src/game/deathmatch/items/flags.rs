//! Flags: at home, carried or dropped, and the configstring that says so.
//!
//! Invariants: a flag is in one place: its item at home is shown exactly when nobody carries it and it
//! does not lie elsewhere. Source: the base game's capture the flag.

use super::ItemThink;
use crate::bg::{
    Event, Powerup, Team, TeamColor, TeamSound, UNTIL_LOST, configstring, contents, entity_flag,
};
use crate::game::deathmatch::{
    context::Context,
    entities::Entities,
    items::Items,
    items::drop::launch_item,
    items::{plan, remove_item},
    systems::Systems,
    teams::{announce_flag_taken, reward_capture, reward_return},
};
use crate::model::{ClientNum, EntityNum, SvFlags};

use super::drop::without;

/// A team's flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game::deathmatch) enum Flag {
    Red,
    Blue,
}

/// What is a flag's own.
struct Row {
    flag: Flag,
    team: Team,
    item: i32,
    powerup: Powerup,
    back_sound: TeamSound,
    name: &'static str,
}

const ROWS: [Row; 2] = [
    Row {
        flag: Flag::Red,
        team: Team::Red,
        item: 34,
        powerup: Powerup::RedFlag,
        back_sound: TeamSound::RedReturned,
        name: "RED",
    },
    Row {
        flag: Flag::Blue,
        team: Team::Blue,
        item: 35,
        powerup: Powerup::BlueFlag,
        back_sound: TeamSound::BlueReturned,
        name: "BLUE",
    },
];

impl Flag {
    /// The flag that an item is.
    pub(super) fn of_item(number: i32) -> Option<Self> {
        ROWS.iter().find(|row| row.item == number).map(|row| row.flag)
    }

    /// Whose it is.
    pub(in crate::game::deathmatch) fn team(self) -> Team {
        self.row().team
    }

    /// The flag of a color.
    pub(in crate::game::deathmatch) const fn of_color(color: TeamColor) -> Self {
        match color {
            TeamColor::Red => Self::Red,
            TeamColor::Blue => Self::Blue,
        }
    }

    /// The color of those whose it is.
    pub(in crate::game::deathmatch) const fn color(self) -> TeamColor {
        match self {
            Self::Red => TeamColor::Red,
            Self::Blue => TeamColor::Blue,
        }
    }

    /// Its place among the powerups of who carries it.
    pub(in crate::game::deathmatch) fn powerup(self) -> Powerup {
        self.row().powerup
    }

    /// What texts call it.
    pub(in crate::game::deathmatch) fn name(self) -> &'static str {
        self.row().name
    }

    /// The other one.
    pub(in crate::game::deathmatch) const fn other(self) -> Self {
        match self {
            Self::Red => Self::Blue,
            Self::Blue => Self::Red,
        }
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// Where a flag is: the digits of configstring 23.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FlagStatus {
    #[default]
    Home = 0,
    Carried = 1,
    Lying = 2,
}

/// Where both flags are: red, blue.
pub(super) type FlagStatuses = [FlagStatus; 2];

/// What is told of a flag that comes home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game::deathmatch) enum ReturnAnnouncement {
    /// Nothing: whoever sent it home tells it.
    None,
    /// Its sound.
    Sound,
    /// Its sound, and a line.
    Loud,
}

impl Items {
    /// Tells everybody where the flags are, in games that have any.
    pub(in crate::game::deathmatch) fn publish_flags(&self, cx: &mut Context<'_>) {
        if cx.clients.game_type.has_flags() {
            let [red, blue] = self.flags.map(|place| place as i32);
            cx.host.set_configstring(configstring::FLAG_STATUS, &format!("{red}{blue}"));
        }
    }
}

impl Entities {
    /// Where a flag belongs on the level; none where the map has none.
    pub(in crate::game::deathmatch) fn flag_home(&self, flag: Flag) -> Option<crate::model::Vec3> {
        self.numbers().find_map(|number| {
            let (entity, pickup) = self.pickup(number)?;
            let is_home = pickup.number == flag.row().item && !pickup.is_dropped;
            is_home.then_some(entity.shared.current_origin)
        })
    }
}

impl Items {
    fn move_flag(&mut self, cx: &mut Context<'_>, flag: Flag, place: FlagStatus) {
        self.flags[flag as usize] = place;
        self.publish_flags(cx);
    }
}

/// Somebody touches a flag that it may touch. True when it carries it away now; otherwise what lay
/// there went home, or was met by the flag that the player brought.
pub(in crate::game::deathmatch) fn touch_team_item(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    flag: Flag,
    is_dropped: bool,
) -> bool {
    let team = cx.clients.team(client);
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return false };
    if flag.team() != team {
        player.state.powerups[flag.powerup()] = UNTIL_LOST;
        sys.items.move_flag(cx, flag, FlagStatus::Carried);
        announce_flag_taken(cx, sys, client, flag);
        return true;
    }
    if is_dropped {
        reward_return(cx, sys, client, flag);
        sys.items.send_flag_home(cx, flag, ReturnAnnouncement::Sound);
    } else {
        player.state.powerups[flag.other().powerup()] = 0;
        for each in [flag, flag.other()] {
            sys.items.send_flag_home(cx, each, ReturnAnnouncement::None);
        }
        reward_capture(cx, sys, client, flag);
    }
    false
}
impl Items {
    /// A flag is at home again, wherever it was, and nobody carries it.
    pub(super) fn send_flag_home(
        &mut self,
        cx: &mut Context<'_>,
        flag: Flag,
        words: ReturnAnnouncement,
    ) {
        let row = flag.row();
        for number in cx.entities.numbers() {
            let Some((_, pickup)) = cx.entities.pickup(number) else { continue };
            if pickup.number != row.item {
                continue;
            }
            if pickup.is_dropped {
                remove_item(cx, number);
            } else {
                show_again(cx, number);
            }
        }
        for player in cx.clients.players.iter_mut().flatten() {
            player.state.powerups[row.powerup] = 0;
        }
        self.move_flag(cx, flag, FlagStatus::Home);
        if words != ReturnAnnouncement::None {
            send_team_sound(cx, row.back_sound);
        }
        if words == ReturnAnnouncement::Loud {
            let line = format!("print \"The {} flag has returned!\n\"", flag.name());
            cx.host.send_command(None, &line);
        }
    }
}

/// Everybody hears what happened to the teams.
pub(in crate::game::deathmatch) fn send_team_sound(cx: &mut Context<'_>, sound: TeamSound) {
    cx.temp_entity(crate::model::Vec3::ZERO, Event::GlobalTeamSound, |state, shared| {
        state.event_parm = sound as i32;
        shared.sv_flags = SvFlags::BROADCAST;
    });
}
impl Items {
    /// Drops the flag that somebody carries, thrown `angle` degrees aside. One that finds no room goes
    /// home.
    pub(super) fn drop_flag(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
        flag: Flag,
        angle: f32,
    ) {
        let row = flag.row();
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        if std::mem::take(&mut player.state.powerups[row.powerup]) == 0 {
            return;
        }
        let item = cx.clients.ruleset.items.get(row.item);
        let dropped = item.and_then(|item| launch_item(cx, client, row.item, item, angle));
        match dropped {
            Some(_) => self.move_flag(cx, flag, FlagStatus::Lying),
            None => self.send_flag_home(cx, flag, ReturnAnnouncement::Loud),
        }
    }

    /// Drops whatever flags somebody carries.
    pub(in crate::game::deathmatch) fn drop_flags(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) {
        for row in &ROWS {
            self.drop_flag(cx, client, row.flag, 0.0);
        }
    }

    /// Whatever flags somebody carries go home at once: it took its own life.
    pub(in crate::game::deathmatch) fn return_flags_of(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) {
        for row in &ROWS {
            let carries = cx
                .clients
                .player(client)
                .is_some_and(|player| player.state.powerups[row.powerup] != 0);
            if carries {
                self.send_flag_home(cx, row.flag, ReturnAnnouncement::Loud);
            }
        }
    }
}

/// Shows an item where it was, at once and alone.
pub(super) fn show_again(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.shared.contents = contents::TRIGGER;
    entity.state.e_flags &= !entity_flag::NODRAW;
    entity.shared.sv_flags = without(entity.shared.sv_flags, SvFlags::NO_CLIENT);
    entity.add_event(Event::ItemRespawn, 0, now);
    cx.entities.link(cx.host, number);
    plan(cx, number, ItemThink::Rest, 0);
}
