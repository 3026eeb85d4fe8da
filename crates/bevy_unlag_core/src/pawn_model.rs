//! The movement model of a pawn, as a component.

use core::any::{TypeId, type_name};

use bevy::{prelude::*, utils::prelude::ShortName};

use crate::model::MoveModel;

/// Movement model of a pawn. The markers of predicted pawns require it, and the network integration inserts it
/// into every pawn that appears, so an observer of it can insert what pawns of a model need. A pawn without it
/// may be of any model.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug, from_reflect = false)]
pub struct PawnModel {
    /// Type of the [`MoveModel`].
    #[reflect(ignore)]
    id: TypeId,
    /// Name of that type, for logs and inspectors.
    name: &'static str,
}

impl PawnModel {
    /// Returns the component for pawns of `M`.
    #[must_use]
    pub fn of<M: MoveModel>() -> Self {
        Self { id: TypeId::of::<M>(), name: type_name::<M>() }
    }

    /// Returns whether it is `M`.
    #[must_use]
    pub fn is<M: MoveModel>(&self) -> bool {
        self.id == TypeId::of::<M>()
    }

    /// Returns the name of the model's type.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the name by which games know the model, without modules: `Soldier`, `WithWeapons<KartModel>`. For
    /// messages; it allocates.
    #[must_use]
    pub fn short_name(&self) -> String {
        short_name(self.name)
    }
}

/// The compiler writes out type aliases: this returns the suite's aliases of [`Extended`](crate::Extended).
fn short_name(type_name: &str) -> String {
    let name = ShortName(type_name).to_string();
    let armed = name.strip_prefix("Extended<").and_then(|rest| rest.strip_suffix(", WeaponExtension>"));
    match armed {
        None => name,
        Some("CapsuleModel") => "Soldier".to_owned(),
        Some(body) => match body.strip_prefix("CapsuleWith<") {
            Some(abilities) => format!("SoldierWith<{abilities}"),
            None => format!("WithWeapons<{body}>"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_those_that_games_write() {
        let armed = |body: &str| {
            format!("bevy_unlag_core::extension::Extended<{body}, bevy_unlag_weapons::arms::WeaponExtension>")
        };
        let capsule = "bevy_unlag_movement::capsule_model::CapsuleModel";
        let dasher = "bevy_unlag_movement::ability::CapsuleWith<game::abilities::Dash>";
        for (full, short) in [
            (capsule.to_owned(), "CapsuleModel"),
            (dasher.to_owned(), "CapsuleWith<Dash>"),
            (armed(capsule), "Soldier"),
            (armed(dasher), "SoldierWith<Dash>"),
            (armed("game::Kart"), "WithWeapons<Kart>"),
        ] {
            assert_eq!(short_name(&full), short);
        }
    }
}
