//! What can be switched: presets, the backend, ledges, other pawns.

use bevy::prelude::*;
use bevy_unlag::core::MoveSystems;
use bevy_unlag_movement::{CapsuleConfig, MoverBackend, PawnCollision, abilities::DashConfig};

use crate::climb::Climb;

/// A feel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Preset {
    /// The default's.
    #[default]
    Unreal,
    /// [`CapsuleConfig::quake`].
    Quake,
    /// [`CapsuleConfig::arcade`].
    Arcade,
}

/// All switches.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tuning {
    /// The feel.
    pub preset: Preset,
    /// What moves the capsule.
    pub backend: MoverBackend,
    /// Whether a walk ends at a ledge.
    pub holds_back: bool,
    /// What other pawns are.
    pub pawns: PawnCollision,
}

impl Tuning {
    /// The tuning of the mover, and of the dash, whose mode it holds.
    pub fn configs(&self) -> (CapsuleConfig, DashConfig) {
        let mut config = match self.preset {
            Preset::Unreal => CapsuleConfig::default(),
            Preset::Quake => CapsuleConfig::quake(),
            Preset::Arcade => CapsuleConfig::arcade(),
        };
        config.backend = self.backend;
        config.walk_off_ledges = !self.holds_back;
        config.pawns = self.pawns;
        let dash = DashConfig::register(&mut config).unwrap_or_default();
        // Two modes are far from too many.
        let _ = Climb::register(&mut config);
        (config, dash)
    }
}

/// Carries switches over to the mover.
pub struct TuningPlugin;

impl Plugin for TuningPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Tuning>();
        app.add_systems(FixedUpdate, apply.run_if(resource_changed::<Tuning>).in_set(MoveSystems::Answer));
    }
}

fn apply(tuning: Res<Tuning>, mut commands: Commands) {
    let (config, dash) = tuning.configs();
    commands.insert_resource(config);
    commands.insert_resource(dash);
}
