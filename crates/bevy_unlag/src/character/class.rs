//! Classes of pawns, with their configuration and body; teams, and who controls a pawn.

use bevy::prelude::*;
use bevy_unlag_core::{NetRole, PawnClass, PawnModel, SetupDiagnostics, SetupIssue, TickSystems};
use bevy_unlag_lightyear::{AddPawnState, ControllingPlayerPlugin, OwnPawnState};
use bevy_unlag_rewind::Team;

use super::{
    Character,
    body::{self, ClassBodies, GivenBody},
};

/// Adds the classes of one character, and once the sending of classes, teams and controlling players.
pub(super) fn add_character<C: Character>(app: &mut App) {
    app.add_pawn_state::<PawnClass>(OwnPawnState::Follow).add_pawn_state::<Team>(OwnPawnState::Follow);
    bevy_unlag_core::require_plugin(app, ControllingPlayerPlugin);
    app.add_observer(insert_body::<C>).add_systems(FixedPreUpdate, apply_class::<C>.in_set(TickSystems));
}

type Pawn<C> = (
    Entity,
    &'static PawnModel,
    Option<Ref<'static, PawnClass>>,
    Option<&'static NetRole>,
    Option<&'static GivenBody>,
    Option<&'static mut <C as bevy_unlag_core::MoveModel>::State>,
);

/// Gives a pawn that has appeared its body.
fn insert_body<C: Character>(
    added: On<Add, PawnModel>,
    pawns: Query<(&PawnModel, Option<&PawnClass>)>,
    (config, bodies): (Option<Res<C::Config>>, Option<Res<ClassBodies<C>>>),
    mut commands: Commands,
) {
    // Without the configuration, `apply_class` does it as soon as that is there.
    if let Ok((model, class)) = pawns.get(added.entity)
        && let Some(config) = config
        && model.is::<C>()
    {
        let class = known_class::<C>(&config, class.copied());
        body::give::<C>(&mut commands.entity(added.entity), &config, bodies.as_deref(), class);
    }
}

/// Applies a class that was set or has arrived: to the body, and with authority to the state.
fn apply_class<C: Character>(
    (config, bodies): (Option<Res<C::Config>>, Option<Res<ClassBodies<C>>>),
    mut pawns: Query<Pawn<C>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
    mut commands: Commands,
) {
    let Some(config) = config else { return };
    let all = config.is_changed();
    for (pawn, _, class, role, given, state) in pawns.iter_mut().filter(|(_, model, ..)| model.is::<C>()) {
        if !all && !class.as_ref().is_some_and(DetectChanges::is_changed) {
            continue;
        }
        let wanted = class.as_deref().copied();
        if let (Some(class), Some(mut state), Some(NetRole::Authority)) = (wanted, state, role) {
            let mut changed = *state;
            C::set_class(&mut changed, class);
            state.set_if_neq(changed);
        }
        let class = known_class::<C>(&config, wanted);
        if let Some(unknown) = wanted.filter(|wanted| *wanted != class) {
            report_unknown_class::<C>(unknown, &mut diagnostics);
        }
        if given.is_none_or(|given| given.class != class) {
            body::give::<C>(&mut commands.entity(pawn), &config, bodies.as_deref(), class);
        }
    }
}

/// Returns the class by which a pawn is configured: 0 for one that there is not.
fn known_class<C: Character>(config: &C::Config, class: Option<PawnClass>) -> PawnClass {
    class.filter(|class| C::has_class(config, *class)).unwrap_or_default()
}

fn report_unknown_class<C: Character>(class: PawnClass, diagnostics: &mut SetupDiagnostics) {
    diagnostics.report_each(SetupIssue::UnknownClass, || {
        let model = PawnModel::of::<C>().short_name();
        format!(
            "a pawn of {model} is of class {}, which that has not, so class 0 applies: add the class to the \
             configuration on both sides by CapsuleConfig::add_class or KartConfig::add_class, or implement \
             Character::has_class and Character::set_class",
            class.0
        )
    });
}
