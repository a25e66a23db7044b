// Draws the diagrams of the site, in its reader's browser.

async function drawDiagrams() {
  const blocks = document.querySelectorAll("code.mermaid");
  if (blocks.length === 0) return;
  const address = "https://cdn.jsdelivr.net/npm/mermaid@12.3.0/dist/mermaid.esm.min.mjs";
  const { default: mermaid } = await import(address);
  const { theme } = document.documentElement.dataset;
  const isDark =
    theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  mermaid.initialize({ startOnLoad: false, theme: isDark ? "dark" : "default" });
  const nodes = [...blocks].map((block) => {
    const diagram = document.createElement("div");
    diagram.textContent = block.textContent;
    block.parentElement.replaceWith(diagram);
    return diagram;
  });
  await mermaid.run({ nodes });
}

// Without a network, the diagrams stay text.
drawDiagrams().catch(console.warn);
