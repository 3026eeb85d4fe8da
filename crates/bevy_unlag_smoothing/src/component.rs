//! Interpolation of game components, in step with the pawn that they belong to.

use core::marker::PhantomData;
use std::collections::VecDeque;

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_unlag_core::{
    DrawnViewTime, Interpolate, Interpolation, InterpolationSpan, PoseSampler, ProxySmoothing, Tick,
    ViewTime, require_plugin,
};

use crate::{
    plugin::{SmoothingPlugin, SmoothingSystems},
    proxy::ProxyTime,
};

/// Received updates of a component with their server ticks, in any order. The network integration fills it
/// and [`SmoothingSystems::Receive`] empties it.
///
/// On an entity with a [`SnapshotInbox`](crate::SnapshotInbox) the component is drawn at the pawn's view
/// time, otherwise at the view time of most pawns.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component)]
#[require(ComponentHistory<C>)]
pub struct ComponentInbox<C: Send + Sync + 'static>(pub Vec<(Tick, C)>);

impl<C: Send + Sync + 'static> Default for ComponentInbox<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Maximum number of updates in a history.
const CAPACITY: usize = 64;
/// Distance in ticks from the newest update beyond which an update is another server's or invalid.
const STRAY_TICKS: i32 = 10_000;
/// Number of consecutive implausible updates after which they are accepted.
const MAX_STRAYS: u8 = 3;

/// Bounded history of a component's updates.
#[doc(alias = "ConfirmedHistory")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component)]
pub struct ComponentHistory<C: Send + Sync + 'static> {
    updates: VecDeque<(Tick, C)>,
    strays: u8,
}

impl<C: Send + Sync + 'static> Default for ComponentHistory<C> {
    fn default() -> Self {
        Self { updates: VecDeque::with_capacity(CAPACITY), strays: 0 }
    }
}

impl<C: Interpolate + Send + Sync + 'static> ComponentHistory<C> {
    fn insert(&mut self, tick: Tick, value: C) {
        if self.updates.back().is_some_and(|(newest, _)| tick.since(*newest).abs() > STRAY_TICKS) {
            // A single one may be invalid; several in a row are another server's.
            self.strays += 1;
            if self.strays < MAX_STRAYS {
                return;
            }
            self.updates.clear();
        }
        self.strays = 0;
        let index = self.updates.partition_point(|(known, _)| tick.is_newer_than(*known));
        if self.updates.get(index).is_some_and(|(known, _)| *known == tick) {
            return;
        }
        if self.updates.len() < CAPACITY {
            self.updates.insert(index, (tick, value));
        } else if index > 0 {
            self.updates.pop_front();
            self.updates.insert(index - 1, (tick, value));
        }
    }

    /// Returns the newest value.
    #[must_use]
    pub fn newest(&self) -> Option<C> {
        self.newest_update().map(|(_, value)| value)
    }

    /// Returns the newest value with its server tick.
    #[must_use]
    pub fn newest_update(&self) -> Option<(Tick, C)> {
        self.updates.back().copied()
    }

    /// Returns the value at a view time; `None` before the first update.
    #[must_use]
    pub fn value(&self, time: ViewTime, sampler: &PoseSampler) -> Option<C> {
        let after = self.updates.partition_point(|(tick, _)| tick.since(time.tick) <= 0);
        let (tick, from) = self.updates.get(after.checked_sub(1)?)?;
        let since = time.ticks_since(*tick).max(0.0);
        let Some((next, to)) = self.updates.get(after) else {
            if sampler.interpolation == Interpolation::Step {
                return Some(*from);
            }
            let ticks = since.min(sampler.max_extrapolation_ticks());
            return Some(from.extrapolate(ticks * sampler.tick_seconds));
        };
        let ticks = next.since(*tick).max(1) as f32;
        if !from.continues_to(to) {
            return Some(*from);
        }
        let fraction = (since / ticks).clamp(0.0, 1.0);
        let span = InterpolationSpan {
            fraction,
            seconds: ticks * sampler.tick_seconds,
            interpolation: sampler.interpolation,
        };
        Some(C::interpolate(from, to, &span))
    }
}

/// Interpolates the component `C` of proxies between its updates, for turrets, doors, lids or aim
/// directions. In every frame it writes the value from the [`ComponentInbox`] to the component.
#[doc(alias = "InterpolationRegistrationExt")]
pub struct SmoothedComponentPlugin<C>(PhantomData<fn() -> C>);

bevy_unlag_core::marker_impls!(SmoothedComponentPlugin<C>);

impl<C: Interpolate + PartialEq + Component<Mutability = Mutable>> Plugin for SmoothedComponentPlugin<C> {
    fn build(&self, app: &mut App) {
        require_plugin(app, SmoothingPlugin);
        app.add_systems(PreUpdate, receive::<C>.in_set(SmoothingSystems::Receive))
            .add_systems(PostUpdate, draw::<C>.in_set(SmoothingSystems::Blend));
    }
}

fn receive<C: Interpolate + Component>(
    mut proxies: Query<(&mut ComponentInbox<C>, &mut ComponentHistory<C>)>,
) {
    for (mut inbox, mut history) in &mut proxies {
        if !inbox.0.is_empty() {
            for (tick, value) in inbox.0.drain(..) {
                history.insert(tick, value);
            }
        }
    }
}

fn draw<C: Interpolate + PartialEq + Component<Mutability = Mutable>>(
    (time, sampler): (Res<DrawnViewTime>, Res<PoseSampler>),
    mut proxies: Query<(
        Entity,
        &ComponentHistory<C>,
        Option<&ProxyTime>,
        Option<&ProxySmoothing>,
        Option<&mut C>,
    )>,
    mut commands: Commands,
) {
    for (entity, history, proxy, mode, component) in &mut proxies {
        let moment = match proxy {
            Some(proxy) => proxy.drawn,
            None => time.0,
        };
        // Without a view time the newest value is drawn.
        let value = match moment {
            Some(time) => history.value(time, &sampler.of(mode)),
            None => history.newest(),
        };
        let Some(value) = value else { continue };
        match component {
            Some(mut component) => drop(component.set_if_neq(value)),
            None => drop(commands.entity(entity).insert(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Angle of a turret that turns by one radian a second.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Turret(f32);

    impl Interpolate for Turret {
        fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
            *from
        }

        fn extrapolate(&self, seconds: f32) -> Self {
            Self(self.0 + seconds)
        }
    }

    #[test]
    fn late_value_goes_on_in_seconds_and_for_no_longer_than_poses() {
        let sampler = PoseSampler::default();
        let mut history = ComponentHistory::default();
        history.insert(Tick(10), Turret(1.0));
        let after = |ticks| history.value(ViewTime::at(Tick(10).offset(ticks)), &sampler);
        assert_eq!(after(-1), None);
        assert_eq!(after(4), Some(Turret(1.0 + 4.0 * sampler.tick_seconds)));
        let most = sampler.max_extrapolation_ticks() * sampler.tick_seconds;
        assert_eq!(after(1_000), Some(Turret(1.0 + most)));
    }
}
