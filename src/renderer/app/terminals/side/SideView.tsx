import { Suspense, useState } from 'react'
import { Layer } from '#renderer/ui/Layer.tsx'
import { TabPanel, Tabs } from '#renderer/ui/Tabs.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { type FileRequest, sidePanels } from '../sidePanels.ts'
import type { Side } from './useSide.ts'

type SideViewProps = {
  /** Sandboxes whose panels stay mounted, including `present`. */
  sandboxes: readonly Sandbox[]
  present: Sandbox
  side: Side
  request: FileRequest | undefined
  show: (sandbox: Sandbox) => void
}

/** Side panels of a sandbox, such as details and files. Each is mounted when first opened. */
export function SideView({ sandboxes, present, side, request, show }: SideViewProps) {
  const visibleId = side.open && side.tab ? mountId(present, side.tab.id) : undefined
  const [mounted, setMounted] = useState<readonly string[]>([])
  if (visibleId !== undefined && !mounted.includes(visibleId)) setMounted([...mounted, visibleId])
  return (
    <section aria-label={`Details: ${present.name}`} className="size-full bg-canvas">
      <Tabs
        head
        label={`Details: ${present.name}`}
        tabs={sidePanels.map(({ id, title, icon: Icon }) => ({
          id,
          label: title,
          mark: <Icon aria-hidden className="size-3.5 shrink-0 text-faint" />,
        }))}
        value={side.tab?.id ?? ''}
        onChange={side.show}
      >
        {sidePanels.map(({ id, title, Content }) => (
          <TabPanel key={id} id={id} keepMounted>
            {sandboxes.map(
              (sandbox) =>
                mounted.includes(mountId(sandbox, id)) && (
                  <Layer key={sandbox.id} visible={sandbox === present}>
                    <Suspense fallback={<div role="status" aria-busy="true" aria-label={`Opening ${title}…`} />}>
                      <Content
                        sandbox={sandbox}
                        visible={mountId(sandbox, id) === visibleId}
                        request={request?.sandboxId === sandbox.id ? request : undefined}
                        show={show}
                      />
                    </Suspense>
                  </Layer>
                ),
            )}
          </TabPanel>
        ))}
      </Tabs>
    </section>
  )
}

function mountId({ id }: Sandbox, tabId: string): string {
  return `${id}/${tabId}`
}
