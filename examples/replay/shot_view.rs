//! A shot in slow motion: the target on the shooter's screen, where the server tested it, and on the server; the
//! shooter on the target's screen; and one sentence why it counted or not.

use std::path::Path;

use bevy::prelude::*;
use bevy_unlag::{
    core::{BasePoses, LimbPoses, LimbRig, NetId, PoseSample, ViewTime},
    net::{ExplainedShot, ExplanationScene, ShotExplainer},
    prelude::*,
    record::{
        IndexedShot, MatchIndex, Playback, PlaybackSystems, PlaybackView, RecordError, RecordSetup,
        ScreenSource,
    },
    rewind::{HUMANOID_LIMBS, HitBoxes, humanoid_hit_boxes, humanoid_rig},
    weapons::ExplanationViewer,
};
use serde_json::{Value, json};
use unlag_examples::{
    arena::{ArenaBox, ArenaMap},
    screen::{
        LiveText, ShownIf,
        ui::{DIM, TEXT, banner, label, shaded},
    },
    weapon_set::WeaponSet,
};

/// Speed while a shot is shown.
const SLOW: f32 = 0.1;
/// Ticks before and after its verdict that are shown over and over.
const AROUND: i32 = 24;
/// Ticks for which the line of a shot is drawn.
const LINE_TICKS: i32 = 8;
/// Lines of shots that are drawn at once.
const MOST_LINES: usize = 64;

const ON_SCREEN: Color = Color::srgb(1.0, 0.30, 0.25);
const TESTED: Color = Color::srgb(0.35, 0.60, 1.0);
const ON_SERVER: Color = Color::srgb(0.75, 0.75, 0.78);
const SHOOTER: Color = Color::srgb(1.0, 0.85, 0.25);

/// Line of the help.
pub const HELP: &str = "X, Z  next and previous shot, explained    V  explanation on and off";

/// The shot that is shown.
#[derive(Resource, Default)]
pub struct ShotView {
    is_on: bool,
    explainer: ShotExplainer,
    shown: Option<(IndexedShot, Result<ExplainedShot, String>)>,
}

impl ShotView {
    /// Creates it. `is_on`: whether the next shot is shown as soon as all shots are known.
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }
}

/// Explains shots: X the next one, Z the one before, V switches it off.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn)
        .add_systems(Update, (choose, repeat).chain())
        .add_systems(PostUpdate, (draw_lines, draw_shot).after(PlaybackSystems::PlaceCamera));
}

fn body(_: NetId) -> (HitBoxes, LimbRig) {
    (humanoid_hit_boxes(), humanoid_rig())
}

fn nearest_wall(boxes: &[ArenaBox], from: Vec3, way: Vec3, most: f32) -> Option<f32> {
    boxes.iter().filter_map(|part| part.cast(from, way, most)).min_by(f32::total_cmp)
}

/// Explains a shot with the level and the weapons of the shooter.
fn explain(
    explainer: &mut ShotExplainer,
    playback: &mut Playback,
    shot: &IndexedShot,
    (map, arsenal): (ArenaMap, &Arsenal),
) -> Result<ExplainedShot, RecordError> {
    let boxes = map.boxes();
    let wall = |from: Vec3, way: Vec3, most: f32| nearest_wall(&boxes, from, way, most);
    let bases = BasePoses::default();
    let scene = ExplanationScene { arsenal, bases: &bases, body: &body, wall: &wall };
    explainer.explain(playback, shot, &scene)
}

/// Explains all shots of a file, for its summary; `null` for those that cannot be.
///
/// # Errors
/// Returns the error of the file.
pub fn explain_all(
    file: &Path,
    own: &RecordSetup,
    index: &MatchIndex,
) -> Result<Vec<Option<Value>>, RecordError> {
    let mut playback = Playback::open(file, own)?;
    let tick_seconds = playback.sampler().tick_seconds;
    let map = ArenaMap::find(&own.level).unwrap_or_default();
    let (arsenal, mut explainer) = (WeaponSet::All.arsenal(), ShotExplainer::default());
    let explained = index.shots().iter().map(|shot| {
        let found = explain(&mut explainer, &mut playback, shot, (map, &arsenal)).ok();
        found.map(|found| object(&found, index, tick_seconds))
    });
    Ok(explained.collect())
}

/// Returns an explanation as JSON.
fn object(found: &ExplainedShot, index: &MatchIndex, tick: f32) -> Value {
    let facts = &found.explanation;
    let name = |pawn| index.name_of(pawn);
    let time =
        |time: Option<ViewTime>| time.map(|time| f64::from(time.tick.0) + f64::from(time.fraction) / 256.0);
    let place = |pose: Option<PoseSample>| pose.map(|pose| pose.position.to_array());
    let target = facts.target.map(|target| {
        json!({
            "name": name(target.id), "screen_gap_m": target.screen_gap, "tested_gap_m": target.tested_gap,
            "moved_m": target.moved, "is_behind_wall": target.is_behind_wall, "is_covered": target.is_covered,
            "on_shooters_screen": place(found.on_shooters_screen), "tested": place(found.tested),
            "on_server": place(found.on_server),
        })
    });
    let targets_screen = found.targets_screen.as_ref().map(|screen| {
        json!({
            "age_ms": screen.age_ms, "shooter": place(screen.shooter),
            "is_estimated": screen.source == ScreenSource::Estimated,
        })
    });
    json!({
        "sentence": facts.sentence(ExplanationViewer::Nobody, tick, name),
        "screen_tick": time(facts.screen), "used_tick": time(facts.used), "clamped": facts.clamped,
        "age_ms": facts.age_ms(tick), "round_trip_ms": facts.round_trip_ms,
        "playout_ms": facts.playout_ms(tick), "queued_ticks": facts.queued_ticks,
        "target": target, "targets_screen": targets_screen,
    })
}

fn choose(
    keys: Res<ButtonInput<KeyCode>>,
    mut playback: ResMut<Playback>,
    (map, arsenal): (Res<ArenaMap>, Res<Arsenal>),
    mut view: ResMut<ShotView>,
) {
    if keys.just_pressed(KeyCode::KeyV) {
        view.is_on = !view.is_on;
        if !view.is_on {
            view.shown = None;
            playback.set_speed(1.0);
            return;
        }
    }
    let (next, before) = (keys.just_pressed(KeyCode::KeyX), keys.just_pressed(KeyCode::KeyZ));
    let is_first = view.is_on && view.shown.is_none() && playback.is_indexed();
    if !next && !before && !is_first {
        return;
    }
    // The shown shot repeats: the next one is counted from it.
    let from = view.shown.as_ref().map_or(playback.time().tick, |(shot, _)| shot.tick);
    let index = playback.index();
    let known =
        view.shown.as_ref().and_then(|(shown, _)| index.shots().iter().position(|shot| shot == shown));
    let wanted = match (known, before) {
        (Some(at), true) => at.checked_sub(1).and_then(|at| index.shots().get(at)),
        (Some(at), false) => index.shots().get(at + 1),
        (None, true) => index.shot_before(from),
        (None, false) => index.shot_after(from),
    };
    let Some(shot) = wanted.cloned() else { return };
    let found = explain(&mut view.explainer, &mut playback, &shot, (*map, &arsenal));
    view.is_on = true;
    view.shown = Some((shot.clone(), found.map_err(|error| error.to_string())));
    playback.set_speed(SLOW);
    playback.seek(ViewTime::at(shot.tick.offset(-AROUND)));
    playback.play();
}

/// Repeats the moments around the shown shot while it plays. A jump elsewhere ends it.
fn repeat(mut playback: ResMut<Playback>, mut view: ResMut<ShotView>) {
    let Some((shot, _)) = &view.shown else { return };
    let passed = playback.time().tick.since(shot.tick);
    if passed.abs() > AROUND * 2 {
        (view.is_on, view.shown) = (false, None);
        playback.set_speed(1.0);
    } else if playback.is_playing() && passed > AROUND {
        let start = ViewTime::at(shot.tick.offset(-AROUND));
        playback.seek(start);
    }
}

fn draw_lines(playback: Res<Playback>, map: Res<ArenaMap>, view: Res<ShotView>, mut gizmos: Gizmos) {
    let boxes = map.boxes();
    let now = playback.time().tick;
    let shots = playback.index().shots();
    let fired = shots.partition_point(|shot| shot.tick.since(now) <= 0);
    let recent = shots[..fired].iter().rev().take(MOST_LINES);
    for shot in recent.take_while(|shot| now.since(shot.tick) <= LINE_TICKS) {
        if view.shown.as_ref().is_some_and(|(shown, _)| shown == shot) {
            continue;
        }
        let Some((_, found)) = playback.shot(shot.shooter, shot.shot) else { continue };
        let fade = 1.0 - now.since(shot.tick) as f32 / (LINE_TICKS + 1) as f32;
        let colour = Color::srgba(1.0, 0.75, 0.35, fade);
        let length = nearest_wall(&boxes, found.eye, found.direction, 60.0).unwrap_or(60.0);
        gizmos.line(found.eye - Vec3::Y * 0.15, found.eye + found.direction * length, colour);
    }
}

/// Draws the poses of the shown shot: hit boxes in three colours, the shooter on the target's screen, and the lines.
/// The camera would be inside the boxes of a pawn that is followed in first person.
fn draw_shot(view: Res<ShotView>, playback: Res<Playback>, mut gizmos: Gizmos) {
    let Some((_, Ok(found))) = &view.shown else { return };
    let camera = |pawn| playback.view() == PlaybackView::FirstPerson(pawn);
    for way in &found.directions {
        gizmos.line(found.eye, found.eye + *way * found.range.min(60.0), Color::WHITE);
    }
    let shooter = found.targets_screen.as_ref().and_then(|screen| screen.shooter);
    let is_in_target = found.explanation.target.is_some_and(|target| camera(target.id));
    let is_in_shooter = camera(found.explanation.shooter);
    // A little larger where it would hide below the next, which is the same pose as a rule.
    let poses = [
        (found.on_server, ON_SERVER, 1.0, is_in_target),
        (found.tested, TESTED, 1.0, is_in_target),
        (found.on_shooters_screen, ON_SCREEN, 1.06, is_in_target),
        (shooter, SHOOTER, 1.0, is_in_shooter),
    ];
    for (pose, colour, size, is_inside) in poses {
        let Some(pose) = pose.filter(|_| !is_inside) else { continue };
        let mut room = LimbPoses::default();
        let limbs = humanoid_rig();
        for (limb, (_, half)) in limbs.in_world(&pose, &mut room).iter().zip(HUMANOID_LIMBS) {
            gizmos.cube(Transform::from_isometry(*limb).with_scale(half * 2.0 * size), colour);
        }
    }
}

fn spawn(mut commands: Commands) {
    let shown = ShownIf::new(&mut commands, |view: Res<ShotView>| view.shown.is_some());
    let sentence = (LiveText::new(&mut commands, sentence), label("", 15.0, TEXT), Pickable::IGNORE);
    let ages = (LiveText::new(&mut commands, ages), label("", 13.0, DIM), Pickable::IGNORE);
    let [screen, tested, server, shooter] = [
        ("red: on the shooter's screen", ON_SCREEN),
        ("blue: where the server tested it", TESTED),
        ("grey: on the server by then", ON_SERVER),
        ("yellow: the shooter on the target's screen", SHOOTER),
    ]
    .map(|(text, colour)| (label(text, 13.0, colour), Pickable::IGNORE));
    let box_of = (Pickable::IGNORE, shaded(Node { row_gap: px(3), ..default() }));
    commands.spawn((
        banner(66.0),
        shown,
        children![(box_of, children![sentence, ages, screen, tested, server, shooter])],
    ));
}

fn sentence(view: Res<ShotView>, playback: Res<Playback>) -> String {
    match &view.shown {
        Some((_, Ok(found))) => {
            let name = |pawn| playback.index().name_of(pawn);
            let tick = playback.sampler().tick_seconds;
            let text = found.explanation.sentence(ExplanationViewer::Nobody, tick, name);
            format!("Shot of {}. {text}", name(found.explanation.shooter))
        }
        Some((_, Err(error))) => error.clone(),
        None => String::new(),
    }
}

fn ages(view: Res<ShotView>, playback: Res<Playback>) -> String {
    let Some((_, Ok(found))) = &view.shown else { return String::new() };
    let tick = playback.sampler().tick_seconds;
    let facts = &found.explanation;
    let ms = |value: Option<f32>| value.map_or("-".to_owned(), |value| format!("{value:.0} ms"));
    let other = found.targets_screen.as_ref().map(|screen| screen.age_ms);
    format!(
        "age on the shooter's screen {}: round trip {}, playout and wait for the move {}, queue {} ticks; \
         age on the target's screen {}",
        ms(facts.age_ms(tick)),
        ms(facts.round_trip_ms.map(f32::from)),
        ms(facts.playout_ms(tick)),
        facts.queued_ticks,
        ms(other)
    )
}
