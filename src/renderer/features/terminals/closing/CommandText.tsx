export function CommandText({ text }: { text: string }) {
  return (
    <code className="font-mono text-small break-all text-text">
      {text.length > 160 ? `${text.slice(0, 159)}…` : text}
    </code>
  )
}
