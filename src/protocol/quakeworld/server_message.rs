//! Messages of a server: what clients see, hear and are told.
//!
//! Source: QuakeWorld protocol 28, messages of the server.

use super::{
    bytes::{Angle, Coord, Element, ReadResult, Reader, Text, Writer},
    effects::{Nails, NumberedNails, Sound, TempEntity},
    entities::{DeltaList, EntityDelta},
    level::{Download, NameList, PlainState, ServerData, SetAngle, WideNameList},
    players::PlayerInfo,
    table::messages,
};

messages! {
    /// Message of a server.
    ServerMessage;
    /// No content.
    1 "nop" Nop;
    /// End of the session.
    2 "disconnect" Disconnect;
    /// Stat of 0 to 255.
    3 "updatestat" UpdateStat {
        /// Number of the stat.
        stat: u8,
        /// Value.
        value: u8
    };
    /// Sound.
    6 "sound" Sound(sound: Sound);
    /// Text for the console.
    8 "print" Print {
        /// Kind of text: 0 low, 1 deaths, 2 high, 3 chat.
        level: u8,
        /// Text, a line or a part of one.
        text: Text<'a>
    };
    /// Console commands.
    9 "stufftext" StuffText {
        /// Commands, or parts of one. A command ends with a line feed.
        text: Text<'a>
    };
    /// Angles of the view.
    10 "setangle" SetAngle(angle: SetAngle);
    /// Start of a level.
    11 "serverdata" ServerData(data: ServerData<'a>);
    /// Animation of a light.
    12 "lightstyle" LightStyle {
        /// Number of the style, `0..64`.
        style: u8,
        /// Brightness in steps of 0.1 s: `a` is dark, `m` normal.
        values: Text<'a>
    };
    /// Score of a player.
    14 "updatefrags" UpdateFrags {
        /// Slot.
        player: u8,
        /// Frags.
        frags: i16
    };
    /// End of a sound.
    16 "stopsound" StopSound {
        /// Entity in the upper 13 bits, channel in the lower 3.
        source: u16
    };
    /// Damage that the player takes.
    19 "damage" Damage {
        /// Lost armor.
        armor: u8,
        /// Lost health.
        health: u8,
        /// Origin of the damage.
        from: [Coord; 3]
    };
    /// Entity that never changes.
    20 "spawnstatic" SpawnStatic(state: PlainState);
    /// Entity that never changes, as a delta.
    21 "fte_spawnstatic2" SpawnStatic2(delta: EntityDelta);
    /// First state of an entity.
    22 "spawnbaseline" SpawnBaseline {
        /// Number.
        entity: i16,
        /// State.
        state: PlainState
    };
    /// Effect of an event.
    23 "temp_entity" TempEntity(effect: TempEntity);
    /// Pause.
    24 "setpause" SetPause {
        /// Whether the game is paused.
        paused: u8
    };
    /// Text in the center of the screen.
    26 "centerprint" CenterPrint {
        /// Text.
        text: Text<'a>
    };
    /// One more monster is dead.
    27 "killedmonster" KilledMonster;
    /// One more secret is found.
    28 "foundsecret" FoundSecret;
    /// Sound that never ends.
    29 "spawnstaticsound" SpawnStaticSound {
        /// Origin.
        origin: [Coord; 3],
        /// Index of the sound.
        sound: u8,
        /// Volume, 255 for all.
        volume: u8,
        /// Attenuation in 64ths.
        attenuation: u8
    };
    /// End of the match, with a fixed view.
    30 "intermission" Intermission {
        /// Origin of the view.
        origin: [Coord; 3],
        /// Angles of the view.
        angles: [Angle; 3]
    };
    /// Text of the end.
    31 "finale" Finale {
        /// Text.
        text: Text<'a>
    };
    /// Music.
    32 "cdtrack" CdTrack {
        /// Number of the track.
        track: u8
    };
    /// Last screen of the free version.
    33 "sellscreen" SellScreen;
    /// Small recoil of the view.
    34 "smallkick" SmallKick;
    /// Big recoil of the view.
    35 "bigkick" BigKick;
    /// Round-trip time of a player.
    36 "updateping" UpdatePing {
        /// Slot.
        player: u8,
        /// Time in ms.
        ping: i16
    };
    /// Time of a player on the server.
    37 "updateentertime" UpdateEnterTime {
        /// Slot.
        player: u8,
        /// Seconds.
        seconds: f32
    };
    /// Stat of any value.
    38 "updatestatlong" UpdateStatLong {
        /// Number of the stat.
        stat: u8,
        /// Value.
        value: i32
    };
    /// Muzzle flash.
    39 "muzzleflash" MuzzleFlash {
        /// Entity.
        entity: i16
    };
    /// Settings of a player.
    40 "updateuserinfo" UpdateUserinfo {
        /// Slot.
        player: u8,
        /// Number of the connection.
        user_id: i32,
        /// Info string; empty for a free slot.
        info: Text<'a>
    };
    /// Part of a download.
    41 "download" Download(part: Download<'a>);
    /// Player in sight.
    42 "playerinfo" PlayerInfo(info: PlayerInfo);
    /// Nails in flight.
    43 "nails" Nails(nails: Nails<'a>);
    /// Answers that were left out for lack of rate.
    44 "chokecount" ChokeCount {
        /// Number of answers.
        count: u8
    };
    /// List of models.
    45 "modellist" ModelList(list: NameList<'a>);
    /// List of sounds.
    46 "soundlist" SoundList(list: NameList<'a>);
    /// Entities in sight, as deltas from their baselines.
    47 "packetentities" PacketEntities(deltas: DeltaList<'a>);
    /// Changes of the entities in sight.
    48 "deltapacketentities" DeltaPacketEntities {
        /// Low byte of the base's sequence.
        from: u8,
        /// Changes.
        deltas: DeltaList<'a>
    };
    /// Maximum speed of this player.
    49 "maxspeed" MaxSpeed {
        /// Speed.
        value: f32
    };
    /// Gravity of this player.
    50 "entgravity" EntGravity {
        /// Gravity, relative.
        value: f32
    };
    /// Setting of a player.
    51 "setinfo" SetInfo {
        /// Slot.
        player: u8,
        /// Key.
        key: Text<'a>,
        /// Value.
        value: Text<'a>
    };
    /// Setting of the server.
    52 "serverinfo" ServerInfo {
        /// Key.
        key: Text<'a>,
        /// Value.
        value: Text<'a>
    };
    /// Packet loss of a player.
    53 "updatepl" UpdatePl {
        /// Slot.
        player: u8,
        /// Loss in percent.
        percent: u8
    };
    /// Nails with numbers, in recordings.
    54 "nails2" Nails2(nails: NumberedNails<'a>);
    /// List of models from number 256 on.
    60 "fte_modellistshort" ModelListShort(list: WideNameList<'a>);
    /// First state of an entity, as a delta.
    66 "fte_spawnbaseline2" SpawnBaseline2(delta: EntityDelta);
    /// Voice of a player.
    84 "voice" Voice(voice: ServerVoice<'a>);
}

/// Voice of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerVoice<'a> {
    /// Slot.
    pub player: u8,
    /// Sequence and flags.
    pub sequence: u8,
    /// Encoded sound.
    pub bytes: &'a [u8],
}

impl<'a> Element<'a> for ServerVoice<'a> {
    fn read(reader: &mut Reader<'a>) -> ReadResult<Self> {
        let (player, sequence, len) = (reader.read()?, reader.read()?, reader.read::<u16>()?);
        Ok(Self { player, sequence, bytes: reader.take(usize::from(len))? })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write(&self.player);
        writer.write(&self.sequence);
        writer.write(&(self.bytes.len() as u16));
        writer.put(self.bytes);
    }
}
