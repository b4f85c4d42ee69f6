import { detectKeyboard, formatKeys } from './commands/shortcuts.ts'

/** Shortcut rendered as keys, in the notation of `ui/commands/shortcuts.ts`. */
export function Kbd({ shortcut }: { shortcut: string }) {
  return (
    <kbd className="inline-flex shrink-0 items-center gap-0.5 font-sans">
      {formatKeys(shortcut, detectKeyboard()).map((key) => (
        <span
          key={key}
          className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-small border border-line bg-panel px-1 text-tiny text-muted"
        >
          {key}
        </span>
      ))}
    </kbd>
  )
}
