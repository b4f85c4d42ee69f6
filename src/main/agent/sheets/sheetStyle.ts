/** The colours of the window, `src/renderer/styles/tokens.css`, that a sheet needs; a test holds them alike. */
export const sheetColors = {
  light: {
    raised: '#ffffff',
    panel: '#f6f6f7',
    control: '#ffffff',
    'control-hover': '#f3f3f5',
    line: '#e5e6e9',
    edge: '#d3d5da',
    ink: '#191b1f',
    muted: '#50555e',
    faint: '#5b616b',
    accent: '#2f52c7',
    'accent-solid': '#3557cf',
    'accent-solid-hover': '#2c4aba',
    'accent-soft': '#3557cf1a',
    'on-solid': '#ffffff',
    caution: '#855300',
    'caution-soft': '#b775001f',
    negative: '#b4232c',
    'negative-soft': '#c92a341a',
    'negative-solid': '#c42b35',
    'negative-solid-hover': '#ab222b',
  },
  dark: {
    raised: '#1b1c1f',
    panel: '#161719',
    control: '#222428',
    'control-hover': '#2a2c31',
    line: '#25272b',
    edge: '#373a40',
    ink: '#e8e9eb',
    muted: '#a8acb4',
    faint: '#9095a0',
    accent: '#94acff',
    'accent-solid': '#4563d8',
    'accent-solid-hover': '#4f6de4',
    'accent-soft': '#6c88ff29',
    'on-solid': '#ffffff',
    caution: '#e3ac4a',
    'caution-soft': '#e3ac4a24',
    negative: '#ff8b8b',
    'negative-soft': '#ff6b6b24',
    'negative-solid': '#c43c44',
    'negative-solid-hover': '#cc444c',
  },
} as const

function variables(theme: keyof typeof sheetColors): string {
  const lines = Object.entries(sheetColors[theme]).map(([name, value]) => `--${name}: ${value};`)
  return `color-scheme: ${theme}; ${lines.join(' ')}`
}

export const sheetStyle = `
@font-face {
  font-family: "Inter Variable";
  font-display: swap;
  font-weight: 100 900;
  src: url("/sheet/assets/inter.woff2") format("woff2-variations");
}
:root { ${variables('light')} }
:root[data-theme="dark"] { ${variables('dark')} }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { ${variables('dark')} } }
* { box-sizing: border-box; margin: 0; }
html {
  background: var(--raised);
  color: var(--ink);
  font: 13px/20px "Inter Variable", system-ui, sans-serif;
  font-feature-settings: "cv05", "cv11", "ss03";
  -webkit-font-smoothing: antialiased;
  accent-color: var(--accent-solid);
  scroll-padding: 16px 0 72px;
  scrollbar-color: var(--edge) transparent;
  scrollbar-width: thin;
}
main { padding: 14px 16px 0; display: flow-root; }
h1 { padding-right: 32px; font-size: 15px; line-height: 22px; font-weight: 600; overflow-wrap: anywhere; }
p { overflow-wrap: anywhere; text-wrap: pretty; }
form { display: flex; flex-direction: column; gap: 14px; margin-top: 10px; }
.lead, .hint, small { color: var(--muted); }
.hint, small { font-size: 12px; line-height: 16px; }
small { display: block; }
code, .mono { font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace; font-size: 12px; }
.field { display: flex; flex-direction: column; gap: 6px; min-width: 0; flex: 1; }
.pair { display: flex; flex-direction: column; gap: 14px; }
label, legend { font-weight: 500; }
input:not([type="radio"]), textarea {
  width: 100%;
  min-width: 0;
  padding: 5px 10px;
  border: 1px solid var(--edge);
  border-radius: 6px;
  background: var(--control);
  color: inherit;
  font: inherit;
}
textarea { resize: vertical; }
input.mono, textarea.mono { font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace; }
input[type="file"] { padding: 4px; }
input::file-selector-button {
  margin-right: 10px;
  padding: 1px 8px;
  border: 1px solid var(--edge);
  border-radius: 4px;
  background: var(--control-hover);
  color: inherit;
  font: inherit;
}
input:hover:not(:disabled), textarea:hover { background: var(--control-hover); }
[aria-invalid="true"] { border-color: var(--negative) !important; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 0; }
[aria-invalid="true"]:focus-visible { outline-color: var(--negative); }
.with-show { position: relative; }
.with-show input { padding-right: 58px; }
.with-show button {
  position: absolute;
  inset: 4px 4px 4px auto;
  height: auto;
  padding: 0 8px;
  border: 0;
  box-shadow: none;
  background: transparent;
  color: var(--muted);
  font-size: 12px;
}
fieldset { border: 0; padding: 0; min-width: 0; }
legend { padding: 0; margin-bottom: 6px; }
.choices { display: flex; gap: 8px; }
.choice {
  display: flex;
  flex: 1;
  gap: 8px;
  padding: 8px 10px;
  border: 1px solid var(--edge);
  border-radius: 6px;
  font-weight: 500;
}
.choice small { font-weight: 400; }
.choice:has(:checked) { border-color: var(--accent); background: var(--accent-soft); }
.choice:has(:focus-visible) { outline: 2px solid var(--accent); }
.choice input { margin-top: 3px; flex: none; outline: none; }
.enter { display: none; }
ul { padding-left: 18px; }
nav { display: flex; gap: 4px; padding: 3px; border-radius: 8px; background: var(--panel); border: 1px solid var(--line); }
nav button { flex: 1; border: 0; box-shadow: none; background: transparent; color: var(--muted); padding: 0 6px; }
nav button[aria-pressed="true"] { background: var(--control-hover); color: var(--ink); }
button, a.button {
  height: 32px;
  padding: 0 12px;
  border: 1px solid var(--edge);
  border-radius: 6px;
  background: var(--control);
  color: inherit;
  font: inherit;
  font-weight: 500;
  white-space: nowrap;
}
button:hover:not(:disabled) { background: var(--control-hover); }
button.primary { border-color: transparent; background: var(--accent-solid); color: var(--on-solid); }
button.primary:hover:not(:disabled) { background: var(--accent-solid-hover); }
button.danger { border-color: transparent; background: var(--negative-solid); color: var(--on-solid); }
button.danger:hover:not(:disabled) { background: var(--negative-solid-hover); }
footer {
  display: flex;
  flex-direction: row-reverse;
  flex-wrap: wrap;
  gap: 8px;
  position: sticky;
  bottom: 0;
  margin: 2px -16px 0;
  padding: 12px 16px;
  border-top: 1px solid var(--line);
  background: var(--raised);
}
form[aria-busy="true"] { cursor: progress; }
form[aria-busy="true"] footer button { opacity: 0.6; }
form[aria-busy="true"] footer { overflow: hidden; }
form[aria-busy="true"] footer::after {
  content: "";
  position: absolute;
  top: 0;
  left: 0;
  width: 33%;
  height: 2px;
  background: var(--accent);
  animation: slide 1.1s ease-in-out infinite;
}
@keyframes slide { from { transform: translateX(-100%); } to { transform: translateX(300%); } }
@media (prefers-reduced-motion: reduce) { form[aria-busy="true"] footer::after { animation: none; width: 100%; } }
#problem, .warning { padding: 9px 12px; border: 1px solid var(--line); border-radius: 8px; }
#problem { background: var(--negative-soft); }
#problem p:first-child { font-weight: 500; }
.warning { background: var(--caution-soft); }
.words {
  display: grid;
  grid-template-columns: repeat(3, 1fr);
  gap: 6px;
  padding: 0;
  list-style: none;
  user-select: none;
  -webkit-user-select: none;
}
.words li {
  display: flex;
  gap: 8px;
  padding: 4px 10px;
  border: 1px solid var(--line);
  border-radius: 6px;
  background: var(--panel);
  font-size: 13px;
}
.words span { min-width: 18px; color: var(--faint); text-align: right; font-variant-numeric: tabular-nums; }
.places { display: flex; gap: 10px; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 14px; }
dt { color: var(--muted); }
dd { overflow-wrap: anywhere; }
dd.address, dd.hash { font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace; font-size: 12px; }
dd.amount { font-weight: 600; font-variant-numeric: tabular-nums; }
dd.warning-value { color: var(--caution); font-weight: 500; }
.sentence {
  padding: 9px 12px;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--panel);
  font-size: 14px;
  font-weight: 600;
}
details summary { color: var(--muted); border-radius: 4px; }
pre {
  max-height: 180px;
  margin-top: 6px;
  padding: 8px 10px;
  overflow: auto;
  border: 1px solid var(--line);
  border-radius: 6px;
  background: var(--panel);
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace;
  font-size: 12px;
  line-height: 16px;
}
@media (max-width: 340px) {
  .words { grid-template-columns: repeat(2, 1fr); }
  .choices, .places { flex-direction: column; }
}
`
