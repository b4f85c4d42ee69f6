import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { CopyLine } from '#renderer/ui/CopyLine.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { Section } from '#renderer/ui/section/Section.tsx'
import type { Output } from '#shared/contract/route.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { createTerminalLink } from '#shared/contract/terminals.ts'

export function ShareSection({ sandbox }: { sandbox: Sandbox }) {
  return (
    <Section id="share" title="Share terminals" foldedAtFirst>
      <Share sandbox={sandbox} />
    </Section>
  )
}

function Share({ sandbox }: { sandbox: Sandbox }) {
  const agent = useAgent()
  // Contains a token, so it is held only in this state while the section is open.
  const [link, setLink] = useState<Output<typeof createTerminalLink>>()
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  const make = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      setLink(await agent(createTerminalLink, { id: sandbox.id }))
    } catch (refusal) {
      setFailure(refusal)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="flex flex-col items-start gap-2.5">
      <p className="text-muted">Anyone with the link can use this sandbox’s terminals, and nothing else.</p>
      {link && (
        <div className="w-full">
          <CopyLine text={link.terminal_url} label="Copy link" />
          <p className="mt-1 text-small text-faint">
            Expires{' '}
            <time dateTime={link.expires_at}>
              {new Date(link.expires_at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
            </time>
            .
          </p>
        </div>
      )}
      {failure !== undefined && <ErrorNotice error={failure} />}
      <Button size="small" icon={Link2} busy={busy} onClick={() => void make()}>
        {link ? 'New link' : 'Create link'}
      </Button>
    </div>
  )
}
