use crate::derivation::Source;
use crate::read::Lookup;
use crate::testing::*;
use std::time::Instant;
#[test]
fn perf() {
    let (_d, _p, store) = fresh();
    let n = 8000u32;
    let t = Instant::now();
    let mut ids = vec![];
    for c in 0..8 {
        let mut b = store.write().unwrap();
        for i in c * n / 8..(c + 1) * n / 8 {
            let text = b.put_blob(format!("{i} {}", "x".repeat(1000)).as_bytes()).unwrap();
            let d = recipe("leaf", &[Source::Blob(text)]);
            let r = resolve(&b, &d);
            b.realise(commit(&d, &r, format!("out {i} {}", "y".repeat(900)).as_bytes())).unwrap();
            ids.push(d.id());
        }
        b.commit().unwrap();
    }
    let w = t.elapsed();
    let r = store.read().unwrap();
    let t = Instant::now();
    for id in &ids {
        assert!(r.realisation(*id).unwrap().is_some());
    }
    let g = t.elapsed();
    let t = Instant::now();
    for id in &ids {
        let x = r.realisation(*id).unwrap().unwrap();
        r.blob(x.output).unwrap().unwrap();
    }
    let g2 = t.elapsed();
    let t = Instant::now();
    let mut b = store.write().unwrap();
    for i in 0..8000u32 {
        b.append(&format!("t{}", i % 500), "event", &[0; 200], 0).unwrap();
    }
    b.commit().unwrap();
    let a = t.elapsed();
    let t = Instant::now();
    for i in 0..500 {
        assert_eq!(store.read().unwrap().records(&format!("t{i}")).unwrap().len(), 16);
    }
    let rr = t.elapsed();
    let t = Instant::now();
    let v = crate::verify::verify(&store.read().unwrap(), &Default::default(), |_, _| {
        std::ops::ControlFlow::Continue(())
    });
    assert!(v.findings.is_empty());
    println!(
        "realise {:?}/node, realisation get {:?}, +blob {:?}, append {:?}, 500 topics records {:?}, verify {:?} {} entries, file {:?}",
        w / n,
        g / n,
        g2 / n,
        a / 8000,
        rr,
        t.elapsed(),
        v.checked,
        store.stats().unwrap().file_bytes
    );
    for s in store.stats().unwrap().tables {
        println!("{s:?}");
    }
}
