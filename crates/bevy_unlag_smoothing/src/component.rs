//! A game's own components, drawn between their updates like the pawn that they belong to.

use core::marker::PhantomData;
use std::collections::VecDeque;

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_unlag_core::{
    DrawnViewTime, Interpolate, Interpolation, ProxySmoothing, Sampler, Span, Tick, ViewTime,
};

use crate::{SmoothingPlugin, SmoothingSystems, proxy::ProxyTime};

/// Where the network puts the updates of a component, each with the server's tick that it belongs to,
/// in any order, before [`SmoothingSystems::Receive`] empties it. Beside a
/// [`SnapshotInbox`](crate::SnapshotInbox) the component is drawn at the pawn's moment, alone at the
/// moment of most pawns.
#[derive(Component, Clone, Debug)]
#[require(ComponentHistory<C>)]
pub struct ComponentInbox<C: Send + Sync + 'static>(pub Vec<(Tick, C)>);

impl<C: Send + Sync + 'static> Default for ComponentInbox<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Updates that are remembered at most.
const CAPACITY: usize = 64;
/// Updates further apart from the newest than this many ticks are another server's, or nonsense.
const STRAY_TICKS: i32 = 10_000;

/// A short memory of a component's updates, oldest first.
#[derive(Component, Clone, Debug)]
pub struct ComponentHistory<C: Send + Sync + 'static>(VecDeque<(Tick, C)>);

impl<C: Send + Sync + 'static> Default for ComponentHistory<C> {
    fn default() -> Self {
        Self(VecDeque::with_capacity(CAPACITY))
    }
}

impl<C: Interpolate + Send + Sync + 'static> ComponentHistory<C> {
    fn insert(&mut self, tick: Tick, value: C) {
        if self.0.back().is_some_and(|(newest, _)| tick.since(*newest).abs() > STRAY_TICKS) {
            self.0.clear();
        }
        let index = self.0.partition_point(|(known, _)| tick.is_newer_than(*known));
        if self.0.get(index).is_some_and(|(known, _)| *known == tick) {
            return;
        }
        if self.0.len() < CAPACITY {
            self.0.insert(index, (tick, value));
        } else if index > 0 {
            self.0.pop_front();
            self.0.insert(index - 1, (tick, value));
        }
    }

    /// The value at a moment; `None` before the first update.
    #[must_use]
    pub fn value(&self, time: ViewTime, sampler: &Sampler) -> Option<C> {
        let after = self.0.partition_point(|(tick, _)| tick.since(time.tick) <= 0);
        let (tick, from) = self.0.get(after.checked_sub(1)?)?;
        let since = time.ticks_since(*tick).max(0.0);
        let Some((next, to)) = self.0.get(after) else {
            if sampler.interpolation == Interpolation::Step {
                return Some(*from);
            }
            return Some(from.extrapolate(since.min(sampler.max_extrapolation_ticks) * sampler.tick_seconds));
        };
        let ticks = next.since(*tick).max(1) as f32;
        if !from.continues_to(to) {
            return Some(*from);
        }
        let part = (since / ticks).clamp(0.0, 1.0);
        let span = Span { part, seconds: ticks * sampler.tick_seconds, interpolation: sampler.interpolation };
        Some(C::interpolate(from, to, &span))
    }
}

/// Draws the component `C` of proxies between its updates: whatever a [`ComponentInbox`] brought is
/// written into the component in every frame. Turrets, doors, lids, what a player points at.
#[derive(Debug)]
pub struct SmoothedComponentPlugin<C>(PhantomData<fn() -> C>);

impl<C> Default for SmoothedComponentPlugin<C> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<C: Interpolate + Component<Mutability = Mutable>> Plugin for SmoothedComponentPlugin<C> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<SmoothingPlugin>() {
            app.add_plugins(SmoothingPlugin);
        }
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

fn draw<C: Interpolate + Component<Mutability = Mutable>>(
    (time, sampler): (Res<DrawnViewTime>, Res<Sampler>),
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
        let Some(value) = moment.and_then(|time| history.value(time, &sampler.of(mode))) else { continue };
        match component {
            Some(mut component) => *component = value,
            None => {
                commands.entity(entity).insert(value);
            }
        }
    }
}
