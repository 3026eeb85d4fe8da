//! Diagnostics of the setup of an app with weapons.

use bevy::prelude::*;
use bevy_unlag_core::{
    LocalControl, MoveInput, MoveModel, PawnModel, ServerControl, SetupDiagnostics, SetupIssue, TickSystems,
};

use crate::{
    aim::Aim,
    fire_rules::FireRules,
    firing::WeaponControls,
    health::{Health, HealthPlugin},
    verdict::Damage,
    weapon_extension::WithWeapons,
};

/// Seconds without an effect after which the checks report.
const PATIENCE: f32 = 2.0;

/// Reports a model whose moves look straight ahead while its pawns aim elsewhere: the server refuses such shots.
pub(crate) fn report_missing_look<M: MoveModel>(
    (time, rules): (Res<Time>, Res<FireRules>),
    pawns: Query<
        (&Aim, &MoveInput<WithWeapons<M>>),
        (With<WeaponControls>, Or<(With<LocalControl>, With<ServerControl>)>),
    >,
    (mut has_looked, mut beside_for): (Local<bool>, Local<f32>),
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    if *has_looked {
        return;
    }
    let mut is_beside = false;
    for (aim, input) in &pawns {
        *has_looked |= M::look(&input.0.body) != (0, 0);
        is_beside |= aim.direction().angle_between(Vec3::NEG_Z).to_degrees() > rules.aim_tolerance;
    }
    if is_beside && !*has_looked {
        *beside_for += time.delta_secs();
    }
    if *beside_for > PATIENCE {
        *has_looked = true;
        diagnostics.report_each(SetupIssue::LookNotImplemented, || {
            let model = PawnModel::of::<M>().short_name();
            format!(
                "a pawn of {model} aims aside, and the look of its moves stays straight ahead, so the server \
                 refuses its shots: keep the direction of the view in the input, and return it from \
                 MoveModel::look"
            )
        });
    }
}

/// Adds the check of an app that leaves out [`HealthPlugin`].
pub(crate) struct HealthCheckPlugin;

impl Plugin for HealthCheckPlugin {
    fn build(&self, _: &mut App) {}

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<HealthPlugin>() {
            app.add_systems(FixedLast, report_unused_health.in_set(TickSystems));
        }
    }
}

/// Reports damage to pawns with [`Health`] after which no health changes: a game with rules of its own changes it.
fn report_unused_health(
    time: Res<Time>,
    mut damage: MessageReader<Damage>,
    pawns: Query<Ref<Health>>,
    (mut hurt_for, mut is_over): (Local<Option<f32>>, Local<bool>),
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let is_hurt = damage.read().any(|hit| hit.amount > 0.0 && pawns.contains(hit.target));
    if *is_over || (!is_hurt && hurt_for.is_none()) {
        return;
    }
    *is_over = pawns.iter().any(|health| health.is_changed() && !health.is_added());
    let seconds = hurt_for.map_or(0.0, |seconds| seconds + time.delta_secs());
    *hurt_for = Some(seconds);
    if seconds > PATIENCE && !*is_over {
        *is_over = true;
        diagnostics.report(SetupIssue::UnusedHealth, || {
            "pawns with Health take damage, and nothing applies it: add HealthPlugin on the server, or read \
             Damage in a system of the game"
                .to_owned()
        });
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bevy::time::TimeUpdateStrategy;
    use bevy_unlag_core::Tick;

    use super::*;
    use crate::{verdict::TargetCount, weapon::WeaponId};

    /// Returns whether damage in one tick of four seconds that no system applies is reported, or no damage at all.
    fn is_reported(is_hurt: bool) -> bool {
        let tick = Duration::from_nanos(15_625_000);
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HealthCheckPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(tick))
            .insert_resource(Time::<Fixed>::from_duration(tick))
            .init_resource::<SetupDiagnostics>()
            .add_message::<Damage>();
        app.finish();
        app.cleanup();
        let pawn = app.world_mut().spawn(Health::default()).id();
        (0..64).for_each(|_| app.update());
        if is_hurt {
            app.world_mut().write_message(Damage {
                shooter: pawn,
                target: pawn,
                weapon: WeaponId(0),
                shot: Tick(9),
                amount: 5.0,
                hits: TargetCount::default(),
                point: Vec3::ZERO,
                direction: Vec3::X,
                throw: Vec3::ZERO,
            });
        }
        (0..192).for_each(|_| app.update());
        app.world().resource::<SetupDiagnostics>().has(SetupIssue::UnusedHealth)
    }

    #[test]
    fn damage_that_nothing_applies_is_reported_and_no_damage_is_not() {
        assert!(is_reported(true));
        assert!(!is_reported(false));
    }
}
