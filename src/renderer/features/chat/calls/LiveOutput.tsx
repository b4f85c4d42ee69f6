import { stripControls } from './callLabels.ts'

/** Output of a running command, scrolled to its end. */
export function LiveOutput({ text }: { text: string }) {
  return (
    <div className="border-t border-line p-2.5">
      {/* Laid out from its end, so that the newest stays in view without being scrolled to. */}
      {/* biome-ignore lint/a11y/useSemanticElements: these are no fields of a form */}
      <div
        // Scrolls by itself, so the keyboard must reach it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        tabIndex={0}
        role="group"
        aria-label="Live output"
        className="flex max-h-48 flex-col-reverse overflow-auto rounded-control border border-line bg-canvas px-2.5 py-2"
      >
        <pre className="font-mono text-small break-words whitespace-pre-wrap">{stripControls(text)}</pre>
      </div>
    </div>
  )
}
