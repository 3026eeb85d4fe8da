//! Capsules of recent corrections, for the debug view.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveDiagnostics, MoveModel, Tick};

use crate::outcome::{Correction, ServerCorrection};

/// Settings of the debug view of corrections. Unreal's `p.NetShowCorrections`.
#[doc(alias = "NetShowCorrections")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct CorrectionView {
    /// Whether corrections are drawn. Default false.
    pub enabled: bool,
    /// Time for which a correction is drawn. Default 4 s, Unreal's `p.NetCorrectionLifetime`. At most the
    /// newest 64 corrections are drawn.
    #[doc(alias = "NetCorrectionLifetime")]
    pub lifetime: Duration,
}

impl Default for CorrectionView {
    fn default() -> Self {
        Self { enabled: false, lifetime: Duration::from_secs(4) }
    }
}

/// Capsule of a pawn at its position on one side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Outline {
    pub(crate) pose: Isometry3d,
    pub(crate) shape: Capsule3d,
}

impl Outline {
    fn of<M: MoveModel>(model: &M::Config, state: &M::State, position: Vec3) -> Self {
        let (radius, half_height) = M::Diagnostics::outline(model, state);
        let rotation = M::snapshot(state, Tick::default()).rotation();
        Self {
            pose: Isometry3d::new(position + rotation * Vec3::Y * half_height, rotation),
            shape: Capsule3d { radius, half_length: (half_height - radius).max(0.0) },
        }
    }
}

/// A correction that is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CorrectionOutline {
    since: Duration,
    pub(crate) server: Outline,
    pub(crate) client: Option<Outline>,
}

/// The newest corrections, a ring buffer.
#[derive(Resource, Debug, Default)]
pub(crate) struct Outlines(VecDeque<CorrectionOutline>);

impl Outlines {
    const CAPACITY: usize = 64;

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &CorrectionOutline> {
        self.0.iter()
    }

    fn push(&mut self, outlined: CorrectionOutline) {
        if self.0.len() == Self::CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(outlined);
    }
}

/// Adds the corrections of the last frame and removes those whose lifetime is over.
pub(crate) fn collect<M: MoveModel>(
    view: Res<CorrectionView>,
    time: Res<Time<Real>>,
    model: Option<Res<M::Config>>,
    mut here: MessageReader<Correction<M>>,
    mut on_server: MessageReader<ServerCorrection<M>>,
    mut outlines: ResMut<Outlines>,
) {
    if !view.enabled {
        outlines.0.clear();
    }
    let since = time.elapsed();
    while outlines.0.front().is_some_and(|oldest| since.saturating_sub(oldest.since) > view.lifetime) {
        outlines.0.pop_front();
    }
    let Some(model) = model.filter(|_| view.enabled) else {
        here.clear();
        on_server.clear();
        return;
    };
    let outline = |state: &M::State| Outline::of::<M>(&model, state, M::position(state));
    for correction in here.read() {
        let (server, client) = (outline(&correction.server), correction.client.as_ref().map(outline));
        outlines.push(CorrectionOutline { since, server, client });
    }
    for correction in on_server.read() {
        let client = Outline::of::<M>(&model, &correction.server, correction.client_position);
        outlines.push(CorrectionOutline { since, server: outline(&correction.server), client: Some(client) });
    }
}

#[cfg(test)]
mod tests {
    use bevy::time::TimeUpdateStrategy;

    use super::*;
    use crate::{
        cause::CorrectionCause,
        testing::{Body, Slider},
    };

    fn app(enabled: bool) -> App {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins)
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(100)))
            .insert_resource(CorrectionView { enabled, ..default() })
            .init_resource::<Outlines>()
            .init_resource::<crate::testing::Tuning>()
            .add_message::<Correction<Slider>>()
            .add_message::<ServerCorrection<Slider>>()
            .add_systems(Update, collect::<Slider>);
        app
    }

    fn correct(app: &mut App, x: f32) {
        app.world_mut().write_message(Correction::<Slider> {
            entity: Entity::PLACEHOLDER,
            tick: Tick(7),
            cause: CorrectionCause::Unknown,
            error: 1.0,
            client: Some(Body { x: x + 1.0 }),
            server: Body { x },
            replayed: 0,
        });
    }

    fn shown(app: &App) -> Vec<(f32, Option<f32>)> {
        let x = |outline: &Outline| outline.pose.translation.x;
        let outlines = app.world().resource::<Outlines>();
        outlines.iter().map(|o| (x(&o.server), o.client.as_ref().map(x))).collect()
    }

    #[test]
    fn correction_draws_both_capsules_until_its_lifetime_is_over() {
        let mut app = app(true);
        correct(&mut app, 3.0);
        app.update();
        assert_eq!(shown(&app), [(3.0, Some(4.0))]);
        let outlined = *app.world().resource::<Outlines>().iter().next().expect("there is one correction");
        let lowest = outlined.server.pose.translation.y
            - outlined.server.shape.half_length
            - outlined.server.shape.radius;
        assert!(lowest.abs() < 1e-5, "the capsule stands at the pawn's root, not at {lowest}");
        for _ in 0..30 {
            app.update();
        }
        assert_eq!(shown(&app).len(), 1, "the lifetime is not over yet");
        for _ in 0..15 {
            app.update();
        }
        assert!(shown(&app).is_empty());
    }

    #[test]
    fn server_correction_draws_the_client_at_the_position_of_its_check() {
        let mut app = app(true);
        app.world_mut().write_message(ServerCorrection::<Slider> {
            entity: Entity::PLACEHOLDER,
            tick: Tick(7),
            cause: CorrectionCause::MissingMoves,
            error: 0.5,
            server: Body { x: 2.0 },
            client_position: Vec3::X * 2.5,
        });
        app.update();
        assert_eq!(shown(&app), [(2.0, Some(2.5))]);
    }

    #[test]
    fn view_keeps_the_newest_64_corrections() {
        let mut app = app(true);
        for i in 0..200 {
            correct(&mut app, i as f32);
        }
        app.update();
        let shown = shown(&app);
        assert_eq!((shown.len(), shown.last().map(|last| last.0)), (64, Some(199.0)));
    }

    #[test]
    fn disabled_view_stores_no_corrections() {
        let mut app = app(false);
        correct(&mut app, 1.0);
        app.update();
        assert!(shown(&app).is_empty());
        app.world_mut().resource_mut::<CorrectionView>().enabled = true;
        app.update();
        assert!(shown(&app).is_empty(), "corrections from before the view was enabled are not drawn");
        correct(&mut app, 1.0);
        app.update();
        app.world_mut().resource_mut::<CorrectionView>().enabled = false;
        app.update();
        assert!(shown(&app).is_empty(), "a disabled view draws nothing");
    }
}
