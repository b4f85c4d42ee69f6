import { useMutation } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { CopyLine } from '#renderer/ui/CopyLine.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { readAuthCode } from '../domainCalls.ts'

/** Transfer code that another registrar requires. Whoever has it can take the domain. */
export function AuthCode({ domain }: { domain: string }) {
  const agent = useAgent()
  const reading = useMutation({
    mutationFn: async () => (await agent(readAuthCode, { domain })).auth_code,
    gcTime: 0,
  })
  return (
    <div className="flex max-w-120 flex-col items-start gap-2">
      {reading.data === undefined ? (
        <Button size="small" icon={KeyRound} busy={reading.isPending} onClick={() => reading.mutate()}>
          Show the transfer code
        </Button>
      ) : reading.data === null ? (
        <p className="text-muted">The registrar sends the code to the owner’s e-mail address.</p>
      ) : (
        <div className="w-full">
          <CopyLine text={reading.data} label="Copy transfer code" />
          <p className="mt-1 text-small text-faint">Whoever has this code can move the domain to another registrar.</p>
        </div>
      )}
      {reading.error && <ErrorNotice error={reading.error} />}
    </div>
  )
}
