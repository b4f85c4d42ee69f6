import { ArrowLeft, Check, Copy } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { DataText, formatJson } from '#renderer/ui/DataText.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { useCopied } from '#renderer/ui/useCopied.ts'
import type { Preview } from './useRegister.ts'

type DataBlockProps = {
  title: string
  hint: string
  text: string
  /** Whether to format the text as JSON for display. Copying uses the original text. */
  isJson?: boolean
}

type ReviewStepProps = {
  preview: Preview
  isLocked: boolean
  busy: boolean
  failure: unknown
  onBack: () => void
  onAsk: (reason: string) => void
}

/** Exact bytes to be signed, shown before approval is requested. */
export function ReviewStep({ preview, isLocked, busy, failure, onBack, onAsk }: ReviewStepProps) {
  const [reason, setReason] = useState('')
  const { profile, chain_type, canonical_json, payload_hash, signed_data } = preview
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <form
      noValidate
      aria-label="Review"
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        onAsk(reason.trim())
      }}
    >
      <header>
        <h2 ref={heading} tabIndex={-1} className="text-large font-semibold outline-none">
          Review
        </h2>
        <p className="text-muted">
          Registering <bdi className="font-medium text-text">{profile.name}</bdi> is permanent: its name, bio, address,
          creator and prompt cannot change.
        </p>
      </header>
      <DataBlock title="Hashed text" hint="Canonical JSON: keys sorted, no spaces, UTF-8." text={canonical_json} />
      <section aria-label="Profile hash" className="flex flex-col gap-1">
        <h3 className="font-medium">Profile hash</h3>
        <p className="text-small text-faint">keccak256 of the bytes above.</p>
        <AddressText whole text={payload_hash} label="Copy profile hash" />
      </section>
      <DataBlock
        title={chain_type === 'evm' ? 'Typed data' : 'Text'}
        hint={
          chain_type === 'evm'
            ? 'EIP-712, signed with the automaton’s key. The nonce is replaced when you request approval.'
            : 'Ed25519, signed with the automaton’s key. The nonce is replaced when you request approval.'
        }
        text={signed_data}
        isJson
      />
      <TextField
        label="Reason (for your log)"
        placeholder="Optional"
        maxLength={280}
        value={reason}
        onChange={setReason}
      />
      {isLocked && (
        <p className="rounded-card bg-accent-soft px-3 py-2">
          The wallet is locked. You will unlock it to approve the request.
        </p>
      )}
      {failure !== undefined && <ErrorNotice error={failure} />}
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-4">
        <Button icon={ArrowLeft} onClick={onBack} disabled={busy}>
          Back
        </Button>
        <Button type="submit" variant="primary" busy={busy}>
          Request approval
        </Button>
      </div>
    </form>
  )
}

function DataBlock({ title, hint, text, isJson = false }: DataBlockProps) {
  const { copied, copy } = useCopied(text)
  return (
    <section aria-label={title}>
      <header className="flex items-end justify-between gap-2 pb-1.5">
        <div>
          <h3 className="font-medium">{title}</h3>
          <p className="text-small text-faint">{hint}</p>
        </div>
        <IconButton
          label={copied ? 'Copied' : `Copy ${title.toLowerCase()}`}
          icon={copied ? Check : Copy}
          onClick={() => void copy()}
        />
      </header>
      <DataText
        name={`${title}, its text`}
        text={isJson ? formatJson(text) : text}
        className="max-h-80 rounded-card border border-line bg-panel"
      />
    </section>
  )
}
