//! Settings of the library by which the techniques are switched.

use bevy::prelude::*;
use bevy_unlag::{
    core::PoseSampler,
    net::{InterestRule, SightVerdict},
    prediction::{PredictionConfig, PredictionDebug},
    prelude::*,
    rewind::{CoverProtection, RewindMode},
    smoothing::{BlendConfig, PlayoutConfig},
    weapons::{CatchUp, ProjectileRules},
};

use super::{Technique, Techniques};

/// Applies the switches of a client.
pub fn apply_to_client(world: &mut World, techniques: &Techniques) {
    let is_off = |technique| !techniques.is_on(technique);
    if let Some(mut debug) = world.get_resource_mut::<PredictionDebug>() {
        debug.draw_acknowledged = is_off(Technique::Prediction);
        debug.skip_replay = is_off(Technique::Replay);
        debug.send_moves_once = is_off(Technique::Redundancy);
    }
    // Every jump is beyond these distances.
    if let Some(mut config) = world.get_resource_mut::<PredictionConfig>() {
        let default = PredictionConfig::default().snap_distance;
        config.snap_distance = if is_off(Technique::Easing) { f32::NEG_INFINITY } else { default };
    }
    if let Some(mut config) = world.get_resource_mut::<BlendConfig>() {
        let BlendConfig { snap_distance, snap_speed, .. } = BlendConfig::default();
        (config.snap_distance, config.snap_speed) =
            if is_off(Technique::Easing) { (-1.0, f32::NEG_INFINITY) } else { (snap_distance, snap_speed) };
    }
    if let Some(mut config) = world.get_resource_mut::<PlayoutConfig>() {
        *config = PlayoutConfig::default();
        if is_off(Technique::Playout) {
            (config.initial_delay, config.max_delay) = (0.0, 0.0);
        }
    }
    set_interpolation(world, techniques);
}

/// Applies the switches of a server.
pub fn apply_to_server(world: &mut World, techniques: &Techniques) {
    set_interpolation(world, techniques);
    if let Some(mut limits) = world.get_resource_mut::<RewindLimits>() {
        limits.mode = if techniques.is_on(Technique::Rewind) { RewindMode::On } else { RewindMode::Off };
        limits.cover = techniques.is_on(Technique::Cover).then(CoverProtection::default);
    }
    if let Some(mut rules) = world.get_resource_mut::<ProjectileRules>() {
        let is_on = techniques.is_on(Technique::CatchUp);
        rules.catch_up = if is_on { CatchUp::Displayed } else { CatchUp::Present };
    }
    if world.contains_resource::<InterestRule>() {
        let is_on = techniques.is_on(Technique::Interest);
        world.insert_resource(if is_on {
            InterestRule::default()
        } else {
            InterestRule::new(|_| SightVerdict::Show)
        });
    }
}

/// Client and server must interpolate alike.
fn set_interpolation(world: &mut World, techniques: &Techniques) {
    if let Some(mut sampler) = world.get_resource_mut::<PoseSampler>() {
        sampler.interpolation = techniques.interpolation();
    }
}
