//! Team flags: at base, carried or dropped, and the flag status configstring.
//!
//! Invariant: a flag is in one place. The flag item at the base is visible exactly while no player carries
//! the flag and no dropped flag exists. Source: the base game's capture the flag.

use crate::bg::{Event, TeamColor, configstring, contents, entity_flag};
use crate::game::deathmatch::items::{Items, remove_item, schedule};
use crate::game::deathmatch::{
    context::Context, entities::Entities, entity_kinds::ItemThink, flag::FLAGS, flag::flag_of,
    items::drop::launch_item, items::drop::without,
};
use crate::game::{FlagAction, GameEvent};
use crate::model::{ClientNum, EntityNum, SvFlags, Vec3};

/// Distance from the own flag within which a carrier is about to capture, in units.
const NEAR_CAPTURE: f32 = 200.0;

/// Status of a flag, as the digit of configstring 23.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FlagStatus {
    #[default]
    AtBase = 0,
    Carried = 1,
    Dropped = 2,
}

/// Status of the red and the blue flag, in this order.
pub(super) type FlagStatuses = [FlagStatus; 2];

/// Announcement that goes with the return of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnAnnouncement {
    /// None; the caller announces the return.
    None,
    /// Team sound.
    Sound,
    /// Team sound and a printed line.
    SoundAndText,
}

impl Items {
    /// Sends the flag status to all clients, in game types with flags.
    pub(crate) fn publish_flags(&self, cx: &mut Context<'_>) {
        if cx.clients.game_type.has_flags() {
            let [red, blue] = self.flags.map(|status| status as i32);
            cx.host.set_configstring(configstring::FLAG_STATUS, &format!("{red}{blue}"));
        }
    }
}

impl Entities {
    /// Returns the base position of a flag, or none on a map without that flag.
    pub(crate) fn flag_base(&self, flag: TeamColor) -> Option<Vec3> {
        self.numbers().find_map(|number| {
            let (entity, pickup) = self.pickup(number)?;
            let is_base = pickup.number == flag_of(flag).item && !pickup.is_dropped;
            is_base.then_some(entity.shared.current_origin)
        })
    }
}

impl Context<'_> {
    /// Whether a player carries a flag and is near the visible flag of its own team.
    pub(crate) fn is_near_capture(&self, client: ClientNum) -> bool {
        let (Some(color), Some(player)) =
            (self.clients.role(client).color(), self.clients.player(client))
        else {
            return false;
        };
        let carries = FLAGS.iter().any(|spec| self.has_powerup(client, spec.powerup));
        let number = flag_of(color).item;
        carries
            && self.clients.game_type.has_flags()
            && self.entities.numbers().any(|stand| {
                self.entities.pickup(stand).is_some_and(|(entity, pickup)| {
                    let hidden = entity.shared.sv_flags.0 & SvFlags::NO_CLIENT.0 != 0;
                    let way = player.state.origin - entity.state.origin;
                    pickup.number == number
                        && !pickup.is_dropped
                        && !hidden
                        && way.length() < NEAR_CAPTURE
                })
            })
    }
}

impl Items {
    /// Whether a flag is not at its base.
    pub(crate) fn is_flag_away(&self, flag: TeamColor) -> bool {
        self.flags[flag as usize] != FlagStatus::AtBase
    }

    /// Sets the status of a flag and sends it.
    pub(crate) fn move_flag(&mut self, cx: &mut Context<'_>, flag: TeamColor, status: FlagStatus) {
        self.flags[flag as usize] = status;
        self.publish_flags(cx);
    }

    /// Returns a flag to its base. No player carries it from then on.
    pub(crate) fn return_flag(
        &mut self,
        cx: &mut Context<'_>,
        flag: TeamColor,
        announcement: ReturnAnnouncement,
    ) {
        let spec = flag_of(flag);
        for number in cx.entities.numbers() {
            let Some((_, pickup)) = cx.entities.pickup(number) else { continue };
            if pickup.number != spec.item {
                continue;
            }
            if pickup.is_dropped {
                remove_item(cx, number);
            } else {
                show_item(cx, number);
            }
        }
        for player in cx.clients.players.iter_mut().flatten() {
            player.state.powerups[spec.powerup] = 0;
        }
        self.move_flag(cx, flag, FlagStatus::AtBase);
        if announcement != ReturnAnnouncement::None {
            cx.send_team_sound(spec.back_sound);
        }
        if announcement == ReturnAnnouncement::SoundAndText {
            let line = format!("print \"The {} flag has returned!\n\"", flag.upper_name());
            cx.host.send_command(None, &line);
            let action = FlagAction::Returned;
            cx.emit(GameEvent::Flag { client: None, team: flag, action });
        }
    }

    /// Drops a flag that a player carries, `angle` degrees aside. Without a free entity the flag returns to
    /// its base.
    pub(super) fn drop_flag(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
        flag: TeamColor,
        angle: f32,
    ) {
        let spec = flag_of(flag);
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        if std::mem::take(&mut player.state.powerups[spec.powerup]) == 0 {
            return;
        }
        let item = cx.clients.ruleset.items.get(spec.item);
        let dropped = item.and_then(|item| launch_item(cx, client, spec.item, item, angle));
        match dropped {
            Some(_) => self.move_flag(cx, flag, FlagStatus::Dropped),
            None => self.return_flag(cx, flag, ReturnAnnouncement::SoundAndText),
        }
    }

    /// Drops every flag that a player carries.
    pub(crate) fn drop_flags(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        for spec in &FLAGS {
            self.drop_flag(cx, client, spec.color, 0.0);
        }
    }

    /// Returns every flag that a player carries to its base at once, after a suicide.
    pub(crate) fn return_carried_flags(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        for spec in &FLAGS {
            if cx.has_powerup(client, spec.powerup) {
                self.return_flag(cx, spec.color, ReturnAnnouncement::SoundAndText);
            }
        }
    }
}

/// Shows an item at its place at once, without its chain.
pub(super) fn show_item(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.shared.contents = contents::TRIGGER;
    entity.state.e_flags &= !entity_flag::NODRAW;
    entity.shared.sv_flags = without(entity.shared.sv_flags, SvFlags::NO_CLIENT);
    entity.add_event(Event::ItemRespawn, 0, now);
    cx.entities.link(cx.host, number);
    schedule(cx, number, ItemThink::Rest, 0);
}
