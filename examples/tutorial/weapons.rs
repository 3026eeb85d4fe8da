//! Chapter 4: shots, damage, death and respawn.

use bevy::prelude::*;
use bevy_unlag::{
    core::Tick,
    prelude::*,
    weapons::{HealthPlugin, Respawn, RespawnDue, ShotResult, WeaponSystems},
};

use crate::pawn::CameraDistance;

/// On the server: health for every soldier, and what death means.
pub fn server(app: &mut App) {
    app.add_plugins(HealthPlugin).add_observer(give_health).add_systems(
        FixedLast,
        (
            die.after(WeaponSystems::ApplyDamage).before(WeaponSystems::Respawn),
            come_back.after(WeaponSystems::Respawn),
        ),
    );
}

fn give_health(added: On<Add, (SoldierPawn, NpcPawn<Soldier>)>, mut commands: Commands) {
    commands.entity(added.entity).insert((Health::full(100.0), PlayerScore::default()));
}

fn die(mut deaths: MessageReader<Died>, mut soldiers: Query<&mut SoldierState>) {
    for death in deaths.read() {
        if let Ok(mut soldier) = soldiers.get_mut(death.victim) {
            soldier.body.alive = false;
        }
    }
}

fn come_back(
    mut due: MessageReader<RespawnDue>,
    mut soldiers: Query<(&NetId, &mut SoldierState)>,
    mut placed: MessageWriter<Respawn>,
) {
    for RespawnDue { pawn } in due.read() {
        if let Ok((id, mut soldier)) = soldiers.get_mut(*pawn) {
            soldier.body.alive = true;
            soldier.body.teleport_to(Vec3::new(f32::from(id.0 % 8) * 2.0 - 7.0, 0.1, 10.0));
            placed.write(Respawn { pawn: *pawn });
        }
    }
}

/// On a client: shots that hit on the screen, by tick, and how many of them the server has confirmed.
#[derive(Resource, Default)]
pub struct Hits {
    pub drawn: Vec<Tick>,
    pub confirmed: usize,
}

/// On a client: counts hits.
pub fn client(app: &mut App) {
    app.init_resource::<Hits>().add_systems(Update, count_hits);
}

fn count_hits(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut hits: ResMut<Hits>,
) {
    hits.drawn.extend(fired.read().filter(|shot| shot.drawn().is_some()).map(|shot| shot.round.shot));
    let is_hit = |verdict: &&ShotVerdict| matches!(verdict.result, ShotResult::Hit(_));
    let confirmed = verdicts.read().filter(is_hit).filter(|hit| hits.drawn.contains(&hit.shot)).count();
    hits.confirmed += confirmed;
}

/// With a window: the camera at the eye, a crosshair, the paths of shots, and the score.
pub fn window(app: &mut App) {
    app.insert_resource(CameraDistance(0.0))
        .add_systems(Startup, spawn_screen)
        .add_systems(Update, (draw_shots, show_score));
}

#[derive(Component)]
struct ScoreLine;

fn spawn_screen(mut commands: Commands) {
    let absolute = Node { position_type: PositionType::Absolute, ..default() };
    let dot = Node { left: percent(50), top: percent(50), width: px(4), height: px(4), ..absolute.clone() };
    commands.spawn((dot, BackgroundColor(Color::WHITE)));
    commands.spawn((Text::default(), Node { top: px(34), left: px(8), ..absolute }, ScoreLine));
}

fn draw_shots(mut fired: MessageReader<ShotFired>, mut gizmos: Gizmos) {
    for shot in fired.read() {
        for ray in &shot.rays {
            gizmos.line(shot.from - Vec3::Y * 0.2, ray.to, Color::WHITE);
        }
    }
}

fn show_score(
    own: Single<(&Health, &PlayerScore), With<LocalControl>>,
    hits: Res<Hits>,
    mut text: Single<&mut Text, With<ScoreLine>>,
) {
    let (health, score) = own.into_inner();
    text.0 = format!(
        "health {:.0}, kills {}, deaths {}, hits {} drawn, {} confirmed",
        health.current,
        score.kills,
        score.deaths,
        hits.drawn.len(),
        hits.confirmed
    );
}
