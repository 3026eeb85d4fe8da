//! Settings of the course: movement preset, mover backend, ledges, pawn collision.

use bevy::prelude::*;
use bevy_unlag::core::MoveSystems;
use bevy_unlag_movement::{CapsuleConfig, MoverBackend, PawnCollision, abilities::DashConfig};
use clap::ValueEnum;

use crate::ladder_climbing::Climb;

/// Movement preset.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Preset {
    /// Like Unreal.
    #[default]
    Unreal,
    /// Like Quake.
    Quake,
    /// Snappy and forgiving.
    Arcade,
}

/// Settings of the course.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tuning {
    /// Movement preset.
    pub preset: Preset,
    /// Mover implementation.
    pub backend: MoverBackend,
    /// Whether the pawn stops at ledges.
    pub stops_at_ledges: bool,
    /// Collision with other pawns.
    pub pawns: PawnCollision,
}

impl Tuning {
    /// Returns the configs of the mover and of the dash, whose mode is registered in the mover's config.
    pub fn configs(&self) -> (CapsuleConfig, DashConfig) {
        let mut config = match self.preset {
            Preset::Unreal => CapsuleConfig::default(),
            Preset::Quake => CapsuleConfig::quake(),
            Preset::Arcade => CapsuleConfig::arcade(),
        };
        config.backend = self.backend;
        config.walk_off_ledges = !self.stops_at_ledges;
        config.pawns = self.pawns;
        let dash = DashConfig::register(&mut config).unwrap_or_default();
        // Two custom modes are far below the limit.
        let _ = Climb::register(&mut config);
        (config, dash)
    }
}

/// Applies the settings to the mover whenever they change.
pub fn plugin(app: &mut App) {
    app.add_systems(FixedUpdate, apply.run_if(resource_changed::<Tuning>).in_set(MoveSystems::Reconcile));
}

fn apply(tuning: Res<Tuning>, mut commands: Commands) {
    let (config, dash) = tuning.configs();
    commands.insert_resource(config);
    commands.insert_resource(dash);
}
