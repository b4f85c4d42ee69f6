import { joinClassNames } from './classNames.ts'

type DataTextProps = {
  name: string
  text: string
  className: string
}

/** Machine-readable text in a scrollable area. */
export function DataText({ name, text, className }: DataTextProps) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
      tabIndex={0}
      aria-label={name}
      className={joinClassNames('overflow-auto px-3.5 py-2.5', className)}
    >
      <pre className="font-mono text-small break-all whitespace-pre-wrap">{text}</pre>
    </section>
  )
}

/** Formats JSON over several lines. Returns other text unchanged. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
