//! Visual effects of shots: tracers, impact puffs, bullet marks, explosions and hit markers.

mod bullet_marks;

use bevy::{light::NotShadowCaster, prelude::*};
use bevy_unlag::{
    core::LimbRig,
    net::{MatchRestarted, PawnEvent},
    prelude::*,
    rewind::WorldTrace,
    weapons::{
        DisplayedProjectileHit, DrawnProjectile, HeldWeapon, ProjectileDisappeared, ProjectileEndKind, Shot,
        ShotResult, Tracer, TracerPath,
    },
};
use unlag_examples::{
    hero::HeroCue,
    screen::{
        scene::glass,
        ui::{centre, placed},
    },
    visuals::body::muzzle,
};

use crate::view::PlayerCamera;
use bullet_marks::BulletMarks;

/// Lifetime of a tracer, in seconds.
const TRAIL_LIFE: f32 = 0.12;
/// Lifetime of an impact puff, in seconds.
const PUFF_LIFE: f32 = 0.25;
/// Lifetime of an explosion, in seconds.
const BURST_LIFE: f32 = 0.35;
/// Duration of a hit marker, in seconds.
const MARK_LIFE: f32 = 0.15;
/// Half the thickness of a tracer, in metres.
const TRAIL_HALF: f32 = 0.012;
/// Distance in metres from a pawn's root within which a shot of another player may have hit its body.
const BODY: f32 = 2.0;
/// Number of materials with falling opacity that make up a fade.
const FADE_STEPS: usize = 8;
/// Start of the own tracers in camera space: at the gun instead of the eye.
const MUZZLE: Vec3 = Vec3::new(0.20, -0.17, -0.85);

/// Shows shots: the player's own at once, the remote ones as their tracers arrive.
pub fn plugin(app: &mut App) {
    app.init_resource::<HitMarker>()
        .add_plugins(bullet_marks::plugin)
        .add_observer(clear)
        .add_systems(Startup, (create_assets, spawn_mark))
        .add_systems(Update, (fade, show_own, show_others, update_hit_marker, show_mark).chain())
        .add_systems(Update, (dress_projectiles, burst, show_abilities).after(fade))
        .add_systems(PostUpdate, move_projectiles.before(TransformSystems::Propagate));
}

/// Shared meshes and materials. A fade steps through a list of materials, so that no shot creates one.
#[derive(Resource)]
struct EffectAssets {
    trail: Handle<Mesh>,
    puff: Handle<Mesh>,
    /// Materials of each [`EffectKind`].
    fades: [[Handle<StandardMaterial>; FADE_STEPS]; 4],
}

#[derive(Clone, Copy)]
enum EffectKind {
    Own,
    Others,
    Dust,
    Fire,
}

impl EffectAssets {
    fn material(&self, look: EffectKind) -> MeshMaterial3d<StandardMaterial> {
        MeshMaterial3d(self.fades[look as usize][0].clone())
    }

    /// Creates a tracer or a projectile.
    fn trail(&self, look: EffectKind, place: Transform) -> impl Bundle + use<> {
        (Mesh3d(self.trail.clone()), self.material(look), place, NotShadowCaster)
    }

    /// Creates a ball of this radius that grows and fades out within `life` seconds.
    fn ball(
        &self,
        (look, life): (EffectKind, f32),
        (centre, radius): (Vec3, f32),
        growth: f32,
    ) -> impl Bundle + use<> {
        let place = Transform::from_translation(centre).with_scale(Vec3::splat(radius));
        let mesh = Mesh3d(self.puff.clone());
        (Fading { age: 0.0, life, look, growth }, mesh, self.material(look), place, NotShadowCaster)
    }
}

/// A short-lived effect that fades out.
#[derive(Component)]
struct Fading {
    age: f32,
    life: f32,
    look: EffectKind,
    /// Growth of its scale per second.
    growth: f32,
}

fn create_assets(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut fading = |colour: Color| {
        core::array::from_fn(|step| {
            materials.add(glass(colour.with_alpha(1.0 - step as f32 / FADE_STEPS as f32)))
        })
    };
    commands.insert_resource(EffectAssets {
        trail: meshes.add(Cuboid::from_length(1.0)),
        puff: meshes.add(Sphere::new(1.0).mesh().uv(16, 10)),
        // In the order of `EffectKind`.
        fades: [
            fading(Color::srgb(1.0, 0.93, 0.55)),
            fading(Color::srgb(1.0, 0.55, 0.25)),
            fading(Color::srgb(0.85, 0.83, 0.78)),
            fading(Color::srgb(1.0, 0.55, 0.12)),
        ],
    });
}

/// Removes the effects of the previous match.
fn clear(_: On<MatchRestarted>, shown: Query<Entity, With<Fading>>, mut commands: Commands) {
    for entity in &shown {
        commands.entity(entity).despawn();
    }
}

fn fade(
    time: Res<Time>,
    looks: Res<EffectAssets>,
    mut shown: Query<(Entity, &mut Fading, &mut Transform, &mut MeshMaterial3d<StandardMaterial>)>,
    mut commands: Commands,
) {
    let seconds = time.delta_secs();
    for (entity, mut fading, mut transform, mut material) in &mut shown {
        fading.age += seconds;
        let step = (fading.age / fading.life * FADE_STEPS as f32) as usize;
        let Some(wanted) = looks.fades[fading.look as usize].get(step) else {
            commands.entity(entity).despawn();
            continue;
        };
        if material.0 != *wanted {
            material.0 = wanted.clone();
        }
        transform.scale += fading.growth * seconds;
    }
}

fn spawn_round(commands: &mut Commands, looks: &EffectAssets, look: EffectKind, from: Vec3, to: Vec3) {
    let way = to - from;
    if let Ok(direction) = Dir3::new(way) {
        let thick = 2.0 * TRAIL_HALF;
        let place = Transform::from_translation(from + way / 2.0)
            .looking_to(direction, Vec3::Y)
            .with_scale(Vec3::new(thick, thick, way.length()));
        let fading = Fading { age: 0.0, life: TRAIL_LIFE, look, growth: 0.0 };
        commands.spawn((fading, looks.trail(look, place)));
    }
    commands.spawn(looks.ball((EffectKind::Dust, PUFF_LIFE), (to, 0.03), 0.4));
}

fn show_own(
    mut fired: MessageReader<ShotFired>,
    (looks, mut marks): (Res<EffectAssets>, ResMut<BulletMarks>),
    cameras: Query<&Transform, With<PlayerCamera>>,
    mut commands: Commands,
) {
    for shot in fired.read() {
        let from = cameras.single().map_or(shot.from, |eye| eye.transform_point(MUZZLE));
        for ray in &shot.rays {
            spawn_round(&mut commands, &looks, EffectKind::Own, from, ray.to);
            if ray.drawn.is_none() {
                marks.add(&mut commands, ray.to);
            }
        }
    }
}

fn show_others(
    mut tracers: MessageReader<Tracer>,
    (looks, mut marks): (Res<EffectAssets>, ResMut<BulletMarks>),
    pawns: Query<(&NetId, &DrawnPose, &LimbRig, Option<&HeldWeapon>, Has<LocalControl>)>,
    arsenal: Res<Arsenal>,
    world: WorldTrace,
    mut commands: Commands,
) {
    for tracer in tracers.read() {
        let Some((_, drawn, rig, held, own)) = pawns.iter().find(|(id, ..)| **id == tracer.shooter) else {
            continue;
        };
        let Some(weapon) = arsenal.get(tracer.weapon) else { continue };
        // A host also receives tracers of its own shots, which it has already shown.
        if own {
            continue;
        }
        let Some(from) = muzzle(&drawn.pose, rig, held) else { continue };
        let (range, pellets) = (weapon.range(), weapon.pellets());
        for way in tracer.directions(from, pellets) {
            let to = match tracer.trail {
                TracerPath::To(to) => to,
                TracerPath::Spread { .. } => from + way * world.cast(from, way, range).unwrap_or(range),
            };
            spawn_round(&mut commands, &looks, EffectKind::Others, from, to);
            if !pawns.iter().any(|(_, drawn, ..)| drawn.pose.position.distance(to) < BODY) {
                marks.add(&mut commands, to);
            }
        }
    }
}

/// Adds a visual to every projectile.
fn dress_projectiles(
    added: Query<(Entity, &DrawnProjectile), Added<DrawnProjectile>>,
    looks: Res<EffectAssets>,
    mut commands: Commands,
) {
    for (entity, drawn) in &added {
        let look = if drawn.own { EffectKind::Own } else { EffectKind::Others };
        commands.entity(entity).insert(looks.trail(look, flying(drawn)));
    }
}

fn flying(drawn: &DrawnProjectile) -> Transform {
    let way = drawn.velocity.try_normalize().unwrap_or(Vec3::NEG_Z);
    Transform::from_translation(drawn.position)
        .looking_to(way, Vec3::Y)
        .with_scale(Vec3::new(0.10, 0.10, 0.45))
}

fn move_projectiles(mut shown: Query<(&DrawnProjectile, &mut Transform)>) {
    for (drawn, mut transform) in &mut shown {
        transform.set_if_neq(flying(drawn));
    }
}

/// Shows an explosion where a projectile ended, as a translucent ball of its splash radius.
fn burst(
    mut ended: MessageReader<ProjectileDisappeared>,
    looks: Res<EffectAssets>,
    arsenal: Res<Arsenal>,
    mut commands: Commands,
) {
    for end in ended.read().filter(|end| end.kind != ProjectileEndKind::Gone) {
        let weapon = arsenal.get(end.weapon).map(|weapon| weapon.shot);
        let splash = match weapon {
            Some(Shot::Projectile(projectile)) => projectile.splash.map_or(0.2, |splash| splash.radius),
            _ => 0.2,
        };
        let growth = splash * 0.5 / BURST_LIFE;
        commands.spawn(looks.ball((EffectKind::Fire, BURST_LIFE), (end.point, splash * 0.25), growth));
    }
}

/// Shows the use of an ability as a cloud around the hero. The own hero's would cover the view.
fn show_abilities(
    mut cues: MessageReader<PawnEvent<HeroCue>>,
    heroes: Query<&DrawnPose, Without<LocalControl>>,
    looks: Res<EffectAssets>,
    mut commands: Commands,
) {
    for cue in cues.read() {
        let Ok(drawn) = heroes.get(cue.pawn) else { continue };
        let (look, radius) = match cue.event {
            HeroCue::First(_) => (EffectKind::Dust, 0.3),
            HeroCue::Second(_) => (EffectKind::Others, 0.6),
        };
        let centre = drawn.pose.position + drawn.pose.up() * 0.9;
        commands.spawn(looks.ball((look, BURST_LIFE), (centre, radius), 1.5));
    }
}

/// Hit marker around the crosshair: end time and colour.
#[derive(Resource, Default)]
struct HitMarker {
    until: f32,
    colour: Color,
}

/// One of the four strokes of the hit marker.
#[derive(Component)]
struct Stroke;

fn spawn_mark(mut commands: Commands) {
    let stroke = |x: f32, y: f32| {
        let (left, top) = (px(x - 5.5), px(y - 1.0));
        (
            Stroke,
            Pickable::IGNORE,
            Node { left, top, width: px(11), height: px(2), ..placed() },
            UiTransform::from_rotation(Rot2::degrees(45.0 * (x * y).signum())),
            BackgroundColor(Color::NONE),
        )
    };
    commands.spawn((
        centre(),
        children![stroke(10.0, 10.0), stroke(-10.0, 10.0), stroke(10.0, -10.0), stroke(-10.0, -10.0)],
    ));
}

/// Shows the hit marker: faint at once for a drawn hit, opaque when the server confirms it.
fn update_hit_marker(
    time: Res<Time>,
    mut fired: MessageReader<ShotFired>,
    mut bursts: MessageReader<DisplayedProjectileHit>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut mark: ResMut<HitMarker>,
) {
    let until = time.elapsed_secs() + MARK_LIFE;
    let drawn = fired.read().filter(|shot| shot.drawn().is_some()).count()
        + bursts.read().filter(|burst| burst.hits.first().is_some()).count();
    if drawn > 0 {
        *mark = HitMarker { until, colour: Color::srgba(1.0, 1.0, 1.0, 0.35) };
    }
    for verdict in verdicts.read() {
        let colour = match verdict.result {
            ShotResult::Hit(hits) if hits.iter().any(|hit| hit.head > 0) => Color::srgb(1.0, 0.18, 0.12),
            ShotResult::Hit(_) => Color::WHITE,
            ShotResult::Miss | ShotResult::Launched | ShotResult::Refused(_) => continue,
        };
        *mark = HitMarker { until, colour };
    }
}

fn show_mark(time: Res<Time>, mark: Res<HitMarker>, mut strokes: Query<&mut BackgroundColor, With<Stroke>>) {
    let shown = time.elapsed_secs() < mark.until;
    for mut stroke in &mut strokes {
        stroke.set_if_neq(BackgroundColor(if shown { mark.colour } else { Color::NONE }));
    }
}
