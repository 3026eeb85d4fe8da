//! Replication of a game's own components with interpolation between updates.

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_replicon::{
    bytes::{Buf, Bytes},
    prelude::*,
    server::server_tick::ServerTick,
    shared::replication::{
        deferred_entity::DeferredEntity,
        registry::{
            ctx::{RemoveCtx, SerializeCtx, WriteCtx},
            rule_fns::RuleFns,
        },
    },
};
use bevy_unlag_core::{BitReader, BitWriter, CurrentTick, Interpolate, LocalControl, Tick, Wire, WireError};
use bevy_unlag_smoothing::{
    ComponentHistory, ComponentInbox, SmoothedComponentPlugin, SmoothingPlugin, SmoothingStats,
};
use lightyear::prelude::AppComponentExt;

use crate::{parking::Published, pawn_state::InterpolatedComponent, value_request::ValueRequest};

/// Registration of interpolated components.
#[doc(alias = "InterpolationRegistrationExt")]
#[doc(alias = "add_interpolation")]
pub trait ReplicateSmoothed {
    /// Replicates the component `C`. On clients it follows the server's value at the playout time of the
    /// snapshots, interpolated with [`Interpolate`]. For a turret, a door, or the aim of a player. On the
    /// client's own pawn, and in apps without smoothing, it is set on arrival.
    ///
    /// Call it on both sides, after the suite's plugins and in the same order as other registrations. The
    /// entity must be replicated, as every pawn is. Updates are sent with replication, at the server plugin's
    /// snapshot interval.
    fn replicate_smoothed<C: InterpolatedComponent>(&mut self) -> &mut Self;
}

impl ReplicateSmoothed for App {
    fn replicate_smoothed<C: InterpolatedComponent>(&mut self) -> &mut Self {
        replicate::<C, SetOnArrival>(self);
        self
    }
}

/// Registers `C`; `O` handles the server's values for the client's own pawn.
pub(crate) fn replicate<C: InterpolatedComponent, O: LocalValueHandler<C>>(app: &mut App) {
    app.component::<TickedValue<C>>().replicate_with(RuleFns::new(serialize::<C>, deserialize::<C>));
    app.set_receive_fns::<TickedValue<C>>(receive::<C, O>, forget::<C>);
    if app.is_plugin_added::<SmoothingPlugin>() {
        app.add_plugins(SmoothedComponentPlugin::<C>::default());
    }
    app.add_observer(on_local_control::<C, O>)
        .add_observer(|gone: On<Remove, C>, mut commands: Commands| {
            if let Ok(mut entity) = commands.get_entity(gone.entity) {
                entity.try_remove::<TickedValue<C>>();
            }
        })
        .add_systems(
            PostUpdate,
            sample_values::<C>.run_if(resource_exists_and_changed::<ServerTick>).before(ServerSystems::Send),
        );
}

/// Handling of the server's values for the client's own pawn.
pub(crate) trait LocalValueHandler<C: Send + Sync + 'static>: 'static {
    /// Called when the pawn turns out to be the client's own. `came` is the last value in its inbox, `here`
    /// its current one; the pawn of a listen server host only has the latter.
    fn begin(pawn: &mut EntityCommands, came: Option<C>, here: Option<C>);
    /// Called when another value has arrived.
    fn update(pawn: &mut DeferredEntity, update: &TickedValue<C>);
}

/// Writes the server's values into the component.
struct SetOnArrival;

impl<C: Component<Mutability = Mutable> + Copy> LocalValueHandler<C> for SetOnArrival {
    fn begin(pawn: &mut EntityCommands, came: Option<C>, _: Option<C>) {
        // Does not insert the current value again: that would trigger observers.
        if let Some(value) = came {
            pawn.insert(value);
        }
    }

    fn update(pawn: &mut DeferredEntity, update: &TickedValue<C>) {
        match pawn.get_mut::<C>() {
            Some(mut value) => *value = update.value,
            None => drop(pawn.insert(update.value)),
        }
    }
}

/// Ticks after which the server sends an unchanged value again: a client takes a tick that is too far from
/// the last one for invalid.
const REFRESH: i32 = 4_096;

/// A component's value with the server tick at which it changed.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub(crate) struct TickedValue<C: Send + Sync + 'static> {
    pub(crate) tick: Tick,
    pub(crate) value: C,
    /// The owner's last acknowledged tick, if the owner predicts the value.
    pub(crate) acked_tick: Option<Tick>,
    /// The previous value and the last tick at which it was seen, if it was constant for a while: without it,
    /// a client would interpolate over the whole time since the previous change.
    before: Option<(Tick, C)>,
    last_sampled: Tick,
}

impl<C: PartialEq + Copy + Send + Sync + 'static> TickedValue<C> {
    pub(crate) fn new(tick: Tick, value: C) -> Self {
        Self { tick, value, acked_tick: None, before: None, last_sampled: tick }
    }

    /// Samples the value. Returns the update to send, or `None` if nothing has changed.
    fn next(&self, tick: Tick, value: C, acked_tick: Option<Tick>) -> Option<Self> {
        let old = tick.since(self.tick) >= REFRESH;
        (value != self.value || acked_tick != self.acked_tick || old).then(|| {
            let rested = self.last_sampled != self.tick;
            let before = rested.then_some((self.last_sampled, self.value));
            Self { acked_tick, before, ..Self::new(tick, value) }
        })
    }
}

impl<C: Wire + Copy + PartialEq + Send + Sync + 'static> Wire for TickedValue<C> {
    fn write(&self, w: &mut BitWriter) {
        self.tick.write(w);
        self.value.write(w);
        self.acked_tick.write(w);
        w.bool(self.before.is_some());
        if let Some((tick, value)) = self.before {
            w.golomb(self.tick.since(tick).clamp(0, 60_000) as u16, 2);
            value.write(w);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut stamped = Self::new(Tick::read(r)?, C::read(r)?);
        stamped.acked_tick = Option::read(r)?;
        if r.bool()? {
            let tick = stamped.tick.offset(-i32::from(r.golomb(2)?));
            stamped.before = Some((tick, C::read(r)?));
        }
        Ok(stamped)
    }
}

/// Samples the components. Runs before replication sends.
fn sample_values<C: Interpolate + PartialEq + Component>(
    tick: Res<CurrentTick>,
    mut entities: Query<(Entity, &C, Option<&ValueRequest<C>>, Option<&mut TickedValue<C>>), Published>,
    mut commands: Commands,
) {
    for (entity, value, asked, stamped) in &mut entities {
        let acked_tick = asked.and_then(ValueRequest::acked_tick);
        let Some(mut stamped) = stamped else {
            commands.entity(entity).insert(TickedValue { acked_tick, ..TickedValue::new(tick.0, *value) });
            continue;
        };
        match stamped.next(tick.0, *value, acked_tick) {
            Some(next) => *stamped = next,
            None => stamped.bypass_change_detection().last_sampled = tick.0,
        }
    }
}

fn serialize<C: Wire + Copy + PartialEq + Send + Sync + 'static>(
    _: &mut SerializeCtx,
    stamped: &TickedValue<C>,
    message: &mut Vec<u8>,
) -> Result<()> {
    message.extend(stamped.to_bytes());
    Ok(())
}

fn deserialize<C: Wire + Copy + PartialEq + Send + Sync + 'static>(
    _: &mut WriteCtx,
    message: &mut Bytes,
) -> Result<TickedValue<C>> {
    let mut r = BitReader::new(message);
    let stamped = TickedValue::read(&mut r)?;
    let used = r.bytes_read();
    message.advance(used);
    Ok(stamped)
}

/// Maximum number of updates in an inbox that no system drains.
const MAX_INBOX: usize = 64;

fn receive<C: InterpolatedComponent, O: LocalValueHandler<C>>(
    ctx: &mut WriteCtx,
    rule: &RuleFns<TickedValue<C>>,
    entity: &mut DeferredEntity,
    message: &mut Bytes,
) -> Result<()> {
    let stamped = rule.deserialize(ctx, message)?;
    if entity.contains::<LocalControl>() {
        O::update(entity, &stamped);
        return Ok(());
    }
    if !entity.world().contains_resource::<SmoothingStats>() {
        SetOnArrival::update(entity, &stamped);
        return Ok(());
    }
    let updates = stamped.before.into_iter().chain([(stamped.tick, stamped.value)]);
    match entity.get_mut::<ComponentInbox<C>>() {
        Some(mut inbox) if inbox.0.len() < MAX_INBOX => inbox.0.extend(updates),
        Some(_) => {}
        None => drop(entity.insert(ComponentInbox(updates.collect()))),
    }
    Ok(())
}

fn forget<C: Component>(_: &mut RemoveCtx, entity: &mut DeferredEntity) {
    entity.remove::<ComponentInbox<C>>();
    entity.remove::<ComponentHistory<C>>();
    entity.remove::<C>();
}

/// Hands the component over to `O`: whether a pawn is the client's own is known only after it has spawned.
fn on_local_control<C: Interpolate + Component, O: LocalValueHandler<C>>(
    own: On<Add, LocalControl>,
    values: Query<(Option<&C>, Option<&ComponentInbox<C>>)>,
    mut commands: Commands,
) {
    let Ok((here, inbox)) = values.get(own.entity) else { return };
    let came = inbox.and_then(|inbox| inbox.0.last()).map(|(_, value)| *value);
    let mut pawn = commands.entity(own.entity);
    O::begin(&mut pawn, came, here.copied());
    pawn.remove::<(ComponentInbox<C>, ComponentHistory<C>)>();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Angle(f32);

    impl Wire for Angle {
        fn write(&self, w: &mut BitWriter) {
            w.f32(self.0);
        }

        fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
            Ok(Self(r.f32()?))
        }
    }

    #[test]
    fn change_after_a_pause_contains_the_last_tick_of_the_old_value() {
        let first = TickedValue::new(Tick(3), Angle(1.0));
        let moving = first.next(Tick(6), Angle(2.0), None).expect("it has changed");
        assert_eq!(moving.before, None, "it was changing");
        let rested = TickedValue { last_sampled: Tick(60), ..moving };
        assert_eq!(rested.next(Tick(63), Angle(2.0), None), None);
        let again = rested.next(Tick(63), Angle(3.0), Some(Tick(8))).expect("it has changed");
        assert_eq!(again.before, Some((Tick(60), Angle(2.0))));
        let answer = rested.next(Tick(63), Angle(2.0), Some(Tick(9))).expect("the owner requested it");
        assert_eq!((answer.value, answer.acked_tick), (Angle(2.0), Some(Tick(9))));
        let late = rested.next(rested.tick.offset(REFRESH), Angle(2.0), None).expect("the refresh is due");
        assert_eq!(late.value, Angle(2.0));

        for stamped in [moving, again] {
            let mut w = BitWriter::default();
            stamped.write(&mut w);
            let bytes = w.finish();
            let read = TickedValue::read(&mut BitReader::new(&bytes));
            assert_eq!(
                read.map(|read: TickedValue<Angle>| (read.tick, read.value, read.acked_tick, read.before)),
                Ok((stamped.tick, stamped.value, stamped.acked_tick, stamped.before))
            );
            assert!(TickedValue::<Angle>::read(&mut BitReader::new(&bytes[..bytes.len() - 1])).is_err());
        }
    }
}
