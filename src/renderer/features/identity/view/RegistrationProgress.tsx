import { useMutation } from '@tanstack/react-query'
import { Check, Circle, CircleDot, RotateCw, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { type AutomatonRegistration, retryRegistration } from '#shared/contract/automatons.ts'

/** Steps of a registration (requested, signed, sent), with the next step and any error. */
export function RegistrationProgress({ registration }: { registration: AutomatonRegistration }) {
  const { state, detail, intent_id } = registration
  const { send, busy } = useSendAgain(registration.id)
  const request = (
    <a href={buildAddress('approvals', intent_id)} className="font-medium text-accent hover:underline">
      {state === 'waiting' ? 'Review' : 'Show in Approvals'}
    </a>
  )
  return (
    <section aria-label="Progress" className="rounded-card border border-line px-3.5 py-3">
      <ol className="flex flex-col gap-2.5">
        {state === 'waiting' && (
          <>
            <Step look="now" title="Your approval">
              Waiting for you in Approvals. {request}
            </Step>
            <Step look="later" title="Signature" />
            <Step look="later" title="Registering with the service" />
          </>
        )}
        {state === 'sending' && (
          <>
            <Step look="done" title="Approved and signed" />
            <Step look="now" title="Registering with the service">
              {detail === null ? (
                'Sending…'
              ) : (
                <>
                  {detail} Nothing is lost: the same signed request is sent again when the service is back.
                  <span className="mt-2 block">
                    <Button size="small" icon={RotateCw} busy={busy} onClick={send}>
                      Send now
                    </Button>
                  </span>
                </>
              )}
            </Step>
          </>
        )}
        {state === 'refused' && (
          <Step look="ended" title="Denied">
            {detail} Nothing was signed or sent. {request}
          </Step>
        )}
        {state === 'failed' && (
          <Step look="ended" title="Not registered">
            {detail} {request}
          </Step>
        )}
      </ol>
    </section>
  )
}

const looks = {
  done: { icon: Check, tone: 'text-positive' },
  now: { icon: CircleDot, tone: 'text-accent' },
  later: { icon: Circle, tone: 'text-faint' },
  ended: { icon: X, tone: 'text-negative' },
} as const

function Step({ look, title, children }: { look: keyof typeof looks; title: string; children?: ReactNode }) {
  const { icon: Icon, tone } = looks[look]
  return (
    <li className="flex gap-2.5" aria-current={look === 'now' ? 'step' : undefined}>
      <Icon aria-hidden className={joinClassNames('mt-0.75 size-3.5 shrink-0', tone)} />
      <div className="min-w-0">
        <p className={joinClassNames('font-medium', look === 'later' && 'text-faint')}>{title}</p>
        {children && <div className="break-words text-muted">{children}</div>}
      </div>
    </li>
  )
}

/** Requests to send the registration again. The result arrives through events. */
function useSendAgain(registrationId: string): { send: () => void; busy: boolean } {
  const agent = useAgent()
  const { mutate, isPending } = useMutation({
    mutationFn: () => agent(retryRegistration, { registrationId }),
    onSuccess: ({ state, detail }) => {
      if (state === 'sending' && detail !== null) notify.info('Not delivered yet', { hint: detail })
    },
    onError: (error) => notify.failed(error, { title: 'Could not send it again' }),
  })
  return { send: () => mutate(), busy: isPending }
}
