// The list of versions beside this one, below the title: versions.json of the folder above, which docs/build.py writes.
document.addEventListener("DOMContentLoaded", async () => {
  const title = document.querySelector(".sidebar-brand");
  const root = new URL(document.documentElement.dataset.content_root ?? ".", location.href);
  if (!title || location.protocol === "file:") return;
  const answer = await fetch(new URL("../versions.json", root));
  if (!answer.ok) return;
  const own = root.pathname.split("/").at(-2);
  const select = document.createElement("select");
  select.id = "pyptx-versions";
  select.ariaLabel = "Version of the documentation";
  for (const version of await answer.json()) select.add(new Option(version, version, false, version === own));
  const page = location.pathname.slice(root.pathname.length);
  select.addEventListener("change", () => {
    location.href = new URL(`../${select.value}/${page}`, root).href;
  });
  title.after(select);
});
