import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  LanguageDescription,
  syntaxHighlighting,
} from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Lines and columns are 1-based. */
export type TextPosition = { line: number; column: number }

export type CodeEditor = {
  text(): string
  replace(text: string): void
  focus(): void
  /** Moves the cursor to a position and centers it in the view. Positions beyond the end are clamped. */
  goTo(place: TextPosition): void
  close(): void
}

/** Uses the design tokens of the app, so that it follows the theme. */
const editorTheme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--canvas)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'var(--canvas)', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--selected)' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-textfield': { backgroundColor: 'var(--control)', border: '1px solid var(--edge)', borderRadius: '4px' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--control)', border: '1px solid var(--edge)' },
  '.cm-searchMatch': { backgroundColor: 'var(--caution-soft)', outline: '1px solid var(--caution)' },
})
const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--positive)' },
  { tag: [tags.comment, tags.meta], color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--caution)' },
  { tag: [tags.typeName, tags.className, tags.tagName], color: 'var(--caution)' },
  { tag: [tags.propertyName, tags.attributeName, tags.definition(tags.variableName)], color: 'var(--accent)' },
  { tag: tags.heading, fontWeight: 'bold' },
  { tag: tags.link, textDecoration: 'underline' },
  { tag: tags.invalid, color: 'var(--negative)' },
])

type Options = {
  parent: HTMLElement
  name: string
  text: string
  onChange: () => void
  onSave: () => void
}

export function createCodeEditor({ parent, name, text, onChange, onSave }: Options): CodeEditor {
  const language = new Compartment()
  const saving = () => {
    onSave()
    return true
  }
  let closed = false
  const state = EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightSelectionMatches(),
      search({ top: true }),
      syntaxHighlighting(colors),
      editorTheme,
      language.of([]),
      EditorView.contentAttributes.of({ 'aria-label': `Contents of ${name}`, tabindex: '0' }),
      EditorView.updateListener.of(({ docChanged }) => docChanged && onChange()),
      keymap.of([
        { key: 'Mod-s', preventDefault: true, run: saving },
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
    ],
  })
  const view = new EditorView({ state, parent })
  const description = LanguageDescription.matchFilename(languages, name)
  description?.load().then(
    (support) => !closed && view.dispatch({ effects: language.reconfigure(support) }),
    () => {}, // editing works without highlighting
  )
  return {
    text: () => view.state.doc.toString(),
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    focus: () => view.focus(),
    goTo({ line, column }) {
      const { from, to } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines))
      const at = Math.min(from + Math.max(column, 1) - 1, to)
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
      view.focus()
    },
    close() {
      closed = true
      view.destroy()
    },
  }
}
