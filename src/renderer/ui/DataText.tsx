import { joinClassNames } from './classNames.ts'

type DataTextProps = {
  name: string
  text: string
  /** Classes for its border and maximum height. */
  className: string
}

/** Text of a machine that scrolls within its place. */
export function DataText({ name, text, className }: DataTextProps) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      aria-label={name}
      className={joinClassNames('overflow-auto px-3.5 py-2.5', className)}
    >
      <pre className="font-mono text-small break-all whitespace-pre-wrap">{text}</pre>
    </section>
  )
}

/** Over several lines; text that is no JSON stays as it is. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
