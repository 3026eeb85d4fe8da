//! Plugins and system sets.

use bevy::prelude::*;
use bevy_unlag_core::{
    MoveModel, MoveSystems, MovesAcknowledged, PawnSystems, SetupDiagnostics, StepEvent, TickSystems,
    require_plugin,
};
use bevy_unlag_rewind::{RewindQueryPlugin, RewindSystems};
use core::marker::PhantomData;

use crate::{
    arsenal::Arsenal,
    arsenal_asset,
    fire_rules::FireRules,
    firing::{self, ShotFired},
    held_weapon, loadout,
    missed_shots::{self, UnansweredShots},
    projectile::{self, ProjectilesInFlight},
    reflection, reset, setup_diagnostics,
    shot_messages::Tracer,
    shot_validation::{self, SpreadSecret},
    system_sets::WeaponSystems,
    verdict::{Damage, ShotResolved, ShotVerdict},
    weapon_extension::WithWeapons,
};

/// Adds weapons to pawns of the movement model `M`. Predict [`WithWeapons<M>`] instead of `M`.
pub struct WeaponsPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(WeaponsPlugin<M>);

impl<M: MoveModel> Plugin for WeaponsPlugin<M> {
    fn build(&self, app: &mut App) {
        require_plugin(app, RewindQueryPlugin);
        require_plugin(app, setup_diagnostics::HealthCheckPlugin);
        arsenal_asset::add(app);
        // Once, however many models carry weapons.
        if !app.world().contains_resource::<ProjectilesInFlight>() {
            projectile::add(app);
            reset::plugin(app);
            app.init_resource::<UnansweredShots>()
                .add_message::<MovesAcknowledged>()
                .add_systems(PreUpdate, missed_shots::answer_missed_shots)
                .add_systems(
                    RunFixedMainLoop,
                    firing::end_frame.in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
                );
        }
        reflection::register_types(app);
        let of_model = PawnSystems::of::<WithWeapons<M>>();
        app.init_resource::<Arsenal>()
            .init_resource::<FireRules>()
            .init_resource::<SpreadSecret>()
            .init_resource::<SetupDiagnostics>()
            .add_message::<StepEvent<WithWeapons<M>>>()
            .add_message::<ShotFired>()
            .add_message::<ShotVerdict>()
            .add_message::<ShotResolved>()
            .add_message::<Damage>()
            .add_message::<Tracer>()
            .add_systems(
                RunFixedMainLoop,
                firing::capture_view_time::<M>
                    .in_set(PawnSystems::Own)
                    .in_set(WeaponSystems::CaptureView)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            )
            .add_systems(
                FixedUpdate,
                (
                    (
                        firing::add_weapon_input::<M>.in_set(PawnSystems::Own),
                        firing::add_server_weapon_input::<M>.in_set(of_model),
                    )
                        .in_set(MoveSystems::Extend),
                    firing::emit_shot_fired::<M>.in_set(MoveSystems::React).in_set(of_model),
                    setup_diagnostics::report_missing_look::<M>
                        .in_set(of_model)
                        .in_set(TickSystems)
                        .after(MoveSystems::Extend)
                        .before(MoveSystems::Step),
                ),
            )
            .add_systems(
                RunFixedMainLoop,
                held_weapon::update_held_weapons::<M>
                    .in_set(of_model)
                    .in_set(WeaponSystems::UpdateHeldWeapons)
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(FixedPreUpdate, loadout::equip_loadouts::<M>.in_set(TickSystems).in_set(of_model))
            .configure_sets(FixedPostUpdate, WeaponSystems::Validate.in_set(TickSystems))
            .add_systems(
                FixedPostUpdate,
                (shot_validation::resolve_shots::<M>, shot_validation::mark_shots::<M>)
                    .chain()
                    .in_set(of_model)
                    .in_set(WeaponSystems::Validate)
                    .after(RewindSystems::UpdateTable),
            );
    }
}
