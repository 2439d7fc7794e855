use dossier_store::hash::{BlobId, ResolvedId, Sha256};
use dossier_store::journal::ORIGIN;
use dossier_store::realisation::{How, Realisation};

use super::*;
use crate::event::{Author, Event};
use crate::instantiate::Instantiation;
use crate::plan::Work;
use crate::recipe::Recipe;
use crate::settings::{RealiserName, Settings};

const PLAIN: Paint<'_> = Paint { state: &str::to_owned, faint: &str::to_owned };

/// Five documents: `S/a.txt` to `S/e.txt`, the second withdrawn, the third revoked.
fn dossier() -> Dossier {
    let mut dossier = Dossier::empty("S", ORIGIN);
    for name in ["a", "b", "c", "d", "e"] {
        add(&mut dossier, &format!("S/{name}.txt"));
    }
    dossier.apply(Event::Withdrawn { document: "S/b.txt".into(), by: Author::User }).unwrap();
    let revoked = Event::Revoked { document: "S/c.txt".into(), principal: "owner".into() };
    dossier.apply(revoked).unwrap();
    dossier
}

fn add(dossier: &mut Dossier, id: &str) {
    let added = Event::VersionAdded {
        document: id.into(),
        version: 1,
        text_sha256: Sha256::of(id.as_bytes()).0,
        blob: BlobId::of(id.as_bytes()).0,
        length: id.len() as u64,
        original: None,
    };
    dossier.apply(added).unwrap();
    let activated = Event::Activated { document: id.into(), version: 1, path: id.into() };
    dossier.apply(activated).unwrap();
}

fn recipe() -> Recipe {
    Settings::parse("", std::path::Path::new("dossier.toml"))
        .unwrap()
        .lower(RealiserName::Extract, None)
}

fn graph(dossier: &Dossier) -> Graph {
    let builder = crate::builder::of(RealiserName::Extract);
    let recipe = recipe();
    let instantiation =
        Instantiation { dossier, principal: "owner", recipe: &recipe, builder: &builder };
    instantiation.graph(|_| Err("no text is needed")).unwrap()
}

/// Every leaf is realised as VALID or INELIGIBLE, nothing above is.
fn plan(graph: &Graph) -> Plan {
    let planned = |(_, node): (NodeIndex, &Node)| {
        let status = match node.name.as_str() {
            "leaf-01" | "leaf-02" => NodeStatus::Ineligible,
            _ => NodeStatus::Valid,
        };
        match node.children.is_empty() {
            true => Planned::Hit(Realisation {
                derivation: node.id,
                resolved: ResolvedId([0; 32]),
                output: BlobId([7; 32]),
                how: How::Settled,
                status: status.code(),
            }),
            false => Planned::Missing(Work::Rule),
        }
    };
    Plan { nodes: graph.nodes().map(planned).collect() }
}

fn drawing() -> Drawing {
    let dossier = dossier();
    let graph = graph(&dossier);
    let stale = BTreeSet::from(["reduce-01".to_owned(), "root".to_owned()]);
    Drawing::of(&dossier, "owner", &graph, &plan(&graph), &stale)
}

#[test]
fn the_tree_has_the_root_first_and_a_line_a_node() {
    insta::assert_snapshot!(drawing().tree(PLAIN), @r"
    root           stale
    ├─ reduce-00   missing
    │  ├─ leaf-00  VALID  S/a.txt@1
    │  ├─ leaf-01  INELIGIBLE  S/b.txt@1 (withdrawn)
    │  ├─ leaf-02  INELIGIBLE  S/c.txt@1 (revoked)
    │  └─ leaf-03  VALID  S/d.txt@1
    └─ reduce-01   stale
       └─ leaf-04  VALID  S/e.txt@1
    ");
}

#[test]
fn graphviz_has_a_box_a_node_and_an_edge_a_child() {
    let dot = drawing().dot();
    assert!(dot.starts_with("digraph \"S\" {\n") && dot.ends_with('}'), "{dot}");
    assert_eq!(dot.matches("[label=").count(), 8);
    assert_eq!(dot.matches(" -> ").count(), 7);
    assert!(dot.contains(r#"n0 [label="leaf-00\nVALID\nS/a.txt@1", color="green"];"#), "{dot}");
    assert!(dot.contains("  n7 -> n5;\n  n7 -> n6;\n"), "{dot}");
}

#[test]
fn mermaid_has_a_box_a_node_and_an_edge_a_child() {
    let text = drawing().mermaid();
    assert!(text.starts_with("flowchart TD\n"), "{text}");
    assert_eq!(text.matches(" --> ").count(), 7);
    assert!(text.contains("n0[\"leaf-00<br/>VALID<br/>S/a.txt@1\"]:::valid"), "{text}");
    assert!(text.contains("classDef ineligible stroke:orange"), "{text}");
}

#[test]
fn json_names_every_node_with_ids_in_full() {
    let document = drawing().json();
    assert_eq!(document["schema"], "dossier.graph/1");
    let nodes = document["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 8);
    assert_eq!(nodes[0]["name"], "root");
    assert_eq!(nodes[0]["level"], "root");
    assert_eq!(nodes[0]["status"], "stale");
    assert_eq!(nodes[0]["children"], json!(["reduce-00", "reduce-01"]));
    assert_eq!(nodes[0]["drv"], document["root"]);
    assert_eq!(nodes[0]["drv"].as_str().unwrap().len(), "drv:".len() + 64);
    let revoked = nodes.iter().find(|node| node["name"] == "leaf-02").unwrap();
    assert_eq!(revoked["document"]["unreadable"], "revoked");
    assert_eq!(revoked["document"]["readable"], false);
    assert_eq!(revoked["out"], BlobId([7; 32]).to_string());
}

#[test]
fn a_dossier_without_documents_is_drawn_empty() {
    let empty = Dossier::empty("S", ORIGIN);
    let graph = graph(&empty);
    let drawing = Drawing::of(&empty, "owner", &graph, &plan(&graph), &BTreeSet::new());
    assert_eq!(drawing.tree(PLAIN), "(no documents)");
    assert_eq!(drawing.json()["root"], Value::Null);
    assert_eq!(drawing.mermaid(), "flowchart TD");
    assert!(drawing.dot().ends_with('}'));
}

#[test]
fn hostile_names_stay_inside_their_quotes() {
    let mut dossier = Dossier::empty("S\" }", ORIGIN);
    add(&mut dossier, "S/\"];x[\\<b>.txt");
    let graph = graph(&dossier);
    let drawing = Drawing::of(&dossier, "owner", &graph, &plan(&graph), &BTreeSet::new());
    assert!(drawing.dot().starts_with(r#"digraph "S\" }" {"#));
    assert!(drawing.dot().contains(r#"S/\"];x[\\<b>.txt@1""#), "{}", drawing.dot());
    let mermaid = drawing.mermaid();
    assert!(mermaid.contains("S/#34;#93;#59;x#91;#92;#60;b#62;.txt@1"), "{mermaid}");
}
