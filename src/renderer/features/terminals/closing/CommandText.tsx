/** A command in the middle of a question. */
export function CommandText({ text }: { text: string }) {
  return <code className="line-clamp-2 font-mono text-small break-all text-text">{text}</code>
}
