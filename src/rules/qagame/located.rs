//! Located game data: entities and playerstates in the memory of a module.
//!
//! Invariant: a location that was accepted lies inside the memory block with all its records, so that reading one
//! never fails. Source: the game interface, version 8. Engine names: `SV_LocateGameData`, `SV_GentityNum`.

use crate::{
    model::{
        ClientNum, EntityNum, EntityShared, EntityState, PlayerState,
        limits::{MAX_CLIENTS, MAX_ENTITIES},
    },
    qvm::{FaultKind, Memory},
    world::links::EntityViews,
};

/// Offset of the server's part of an entity, in bytes. The reserved copy of the state lies before it.
const SHARED_OFFSET: u32 = 416;
/// Smallest entity: state, reserved copy, shared part.
const MIN_ENTITY_SIZE: u32 = SHARED_OFFSET + size_of::<EntityShared>() as u32;
/// Smallest client: a playerstate.
const MIN_CLIENT_SIZE: u32 = size_of::<PlayerState>() as u32;
/// Offset of the ping in a playerstate.
const PING_OFFSET: i32 = 452;

/// An array of records in the memory of a module.
#[derive(Clone, Copy, Debug, Default)]
struct Records {
    start: u32,
    count: u32,
    /// Distance of two records, in bytes.
    size: u32,
}

/// Arguments of a module about an array of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayArguments {
    pub(super) address: i32,
    pub(super) count: i32,
    /// Distance of two records, in bytes.
    pub(super) size: i32,
}

impl Records {
    /// Checks an array.
    fn new(
        memory: &Memory,
        what: &str,
        array: ArrayArguments,
        max: usize,
        min_size: u32,
    ) -> Result<Self, String> {
        let ArrayArguments { address, count, size } = array;
        let start = address as u32 & memory.mask();
        let count = u32::try_from(count).ok().filter(|count| *count as usize <= max);
        let count = count.ok_or_else(|| format!("invalid number of {what} (max {max})"))?;
        let size = u32::try_from(size).ok().filter(|size| *size >= min_size && size % 4 == 0);
        let size = size.ok_or_else(|| format!("invalid size of {what} (min {min_size})"))?;
        let end = u64::from(start) + u64::from(count) * u64::from(size);
        if !start.is_multiple_of(4) || end > u64::from(memory.size()) {
            return Err(format!("{what} at {start:#x}: not aligned, or outside of the memory"));
        }
        Ok(Self { start, count, size })
    }

    /// Address of a record.
    fn at(&self, index: usize) -> Option<u32> {
        let index = u32::try_from(index).ok().filter(|index| *index < self.count)?;
        Some(self.start + index * self.size)
    }

    /// Index of the record at an address.
    fn index_of(&self, address: u32) -> Option<usize> {
        let distance = address.checked_sub(self.start)?;
        let index = distance.checked_div(self.size)?;
        (distance % self.size == 0 && index < self.count).then_some(index as usize)
    }
}

/// Location of entities and playerstates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Located {
    entities: Records,
    clients: Records,
}

impl Located {
    /// Locates the data of a module: address, number and size of entities, address and size of clients.
    ///
    /// # Errors
    /// A sentence, if an array does not lie inside the memory.
    pub(super) fn new(
        memory: &Memory,
        entities: ArrayArguments,
        clients: i32,
        client_size: i32,
    ) -> Result<Self, String> {
        let entities = Records::new(memory, "entities", entities, MAX_ENTITIES, MIN_ENTITY_SIZE)?;
        // A module has as many clients as its setting allows, which it does not tell here.
        let start = clients as u32 & memory.mask();
        let room = (memory.size() - start) / u32::try_from(client_size).unwrap_or(0).max(1);
        let count = room.min(MAX_CLIENTS as u32) as i32;
        let clients = ArrayArguments { address: clients, count, size: client_size };
        let clients = Records::new(memory, "clients", clients, MAX_CLIENTS, MIN_CLIENT_SIZE)?;
        Ok(Self { entities, clients })
    }

    /// Number of entities.
    pub(super) fn entity_count(&self) -> usize {
        self.entities.count as usize
    }

    /// Number of the entity at an address.
    pub(super) fn entity_at(&self, memory: &Memory, address: i32) -> Option<EntityNum> {
        EntityNum::new(self.entities.index_of(address as u32 & memory.mask())?)
    }

    /// Writes the ping of a client.
    pub(super) fn set_ping(&self, memory: &mut Memory, client: ClientNum, ping_ms: i32) {
        if let Some(player) = self.clients.at(client.index()) {
            memory.store4(player.wrapping_add(PING_OFFSET as u32), ping_ms);
        }
    }

    /// Copies an entity out of the memory.
    pub(super) fn copy_entity(
        &self,
        memory: &Memory,
        number: EntityNum,
    ) -> Option<(EntityState, EntityShared)> {
        let (state, shared) = Views { memory, located: self }.entity(number)?;
        Some((EntityState { number: number.index() as i32, ..*state }, *shared))
    }

    /// Writes what a service changed in an entity: the model, the prediction of clients, the server's part.
    pub(super) fn store_entity(
        &self,
        memory: &mut Memory,
        number: EntityNum,
        state: &EntityState,
        shared: &EntityShared,
    ) -> Result<(), FaultKind> {
        let Some(at) = self.entities.at(number.index()) else { return Ok(()) };
        let bytes = memory.bytes_mut(at as i32, MIN_ENTITY_SIZE as usize)?;
        let (sent, server) = bytes.split_at_mut(SHARED_OFFSET as usize);
        sent[..size_of::<EntityState>()].copy_from_slice(bytemuck::bytes_of(state));
        server.copy_from_slice(bytemuck::bytes_of(shared));
        Ok(())
    }
}

/// Entities and playerstates in place.
#[derive(Clone, Copy)]
pub(super) struct Views<'a> {
    pub(super) memory: &'a Memory,
    pub(super) located: &'a Located,
}

impl<'a> Views<'a> {
    pub(super) fn entity(&self, number: EntityNum) -> Option<(&'a EntityState, &'a EntityShared)> {
        let at = self.located.entities.at(number.index())?;
        Some((self.record(at)?, self.record(at + SHARED_OFFSET)?))
    }

    pub(super) fn player(&self, client: ClientNum) -> Option<&'a PlayerState> {
        self.record(self.located.clients.at(client.index())?)
    }

    fn record<T: bytemuck::AnyBitPattern>(&self, at: u32) -> Option<&'a T> {
        let bytes = self.memory.bytes(at as i32, size_of::<T>()).ok()?;
        bytemuck::try_from_bytes(bytes).ok()
    }
}

impl EntityViews for Views<'_> {
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        self.entity(number)
    }
}
