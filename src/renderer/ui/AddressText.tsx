import { Check, Copy } from 'lucide-react'
import { joinClassNames } from './classNames.ts'
import { IconButton } from './IconButton.tsx'
import { useCopied } from './useCopied.ts'

const endCharacters = 6

type AddressTextProps = {
  text: string
  /** Label of the copy button, such as `Copy address`. */
  label?: string
  /** Whether to show the complete address over several lines, so that every character can be compared. */
  whole?: boolean
}

export function AddressText({ text, label = 'Copy', whole = false }: AddressTextProps) {
  const { copied, copy } = useCopied(text)
  return (
    <span className={joinClassNames('inline-flex min-w-0 max-w-full gap-0.5', whole ? 'items-start' : 'items-center')}>
      {whole ? (
        <code className="min-w-0 font-mono text-small break-all leading-6">{text}</code>
      ) : (
        // Both ends remain visible, because users identify addresses by them.
        <code title={text} className="flex min-w-0 font-mono text-small">
          <span className="truncate">{text.slice(0, -endCharacters)}</span>
          <span className="shrink-0">{text.slice(-endCharacters)}</span>
        </code>
      )}
      <IconButton
        size="small"
        label={copied ? 'Copied' : label}
        icon={copied ? Check : Copy}
        onClick={() => void copy()}
      />
    </span>
  )
}
