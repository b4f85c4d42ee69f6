import { lazy, Suspense, useState } from 'react'
import { useCommands } from '../ui/commands/commandRegistry.tsx'
import { type Decision, DecisionContext } from '../ui/decisionContext.ts'
import { SkeletonRows } from '../ui/Skeleton.tsx'
import { narrowWindow, useMedia } from '../ui/useMedia.ts'
import { ConnectionNotice } from './ConnectionNotice.tsx'
import { CrashBoundary } from './CrashBoundary.tsx'
import { features, firstFeature } from './features.ts'
import { CommandPalette } from './palette/CommandPalette.tsx'
import { PurchaseProvider } from './payments/PurchaseProvider.tsx'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'
import { Sidebar } from './Sidebar.tsx'
import { StatusBar } from './StatusBar.tsx'
import { useLastAddresses, useSection } from './useSection.ts'
import { useSectionLabels } from './useSectionLabels.ts'
import { createWindowCommands } from './windowCommands.ts'

const InlineDecision = lazy(async () => ({
  default: (await import('../features/approvals/decision/InlineDecision.tsx')).InlineDecision,
}))

const SuspendedDecision: Decision = (props) => (
  <Suspense fallback={<SkeletonRows label="Loading the request…" count={3} />}>
    <InlineDecision {...props} />
  </Suspense>
)

/** Root layout of the window: sidebar, current section and status bar. */
export function App() {
  const section = useSection(features) ?? firstFeature
  const isNarrow = useMedia(narrowWindow)
  useLastAddresses()
  const labels = useSectionLabels(isNarrow)
  const [open, setOpen] = useState<'palette' | 'shortcuts'>()
  useCommands([
    ...createWindowCommands({ open: setOpen, labels }),
    ...features.flatMap(({ commands = [] }) => commands),
  ])
  return (
    <div className="grid h-full grid-cols-[auto_minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto]">
      <div className="col-span-2">{features.map(({ id, Everywhere }) => Everywhere && <Everywhere key={id} />)}</div>
      <Sidebar present={section} labels={labels} isNarrow={isNarrow} />
      <main className="relative min-h-0 min-w-0">
        <CrashBoundary key={section.id}>
          <h1 className="sr-only">{section.title}</h1>
          <Suspense fallback={<div role="status" aria-busy="true" aria-label={`Opening ${section.title}…`} />}>
            <DecisionContext value={SuspendedDecision}>
              <PurchaseProvider>
                <section.Screen />
              </PurchaseProvider>
            </DecisionContext>
          </Suspense>
        </CrashBoundary>
        <ConnectionNotice />
      </main>
      <StatusBar
        features={features}
        onOpenPalette={() => setOpen('palette')}
        onOpenShortcuts={() => setOpen('shortcuts')}
      />
      <CommandPalette open={open === 'palette'} onOpenChange={(next) => setOpen(next ? 'palette' : undefined)} />
      <ShortcutsDialog open={open === 'shortcuts'} onOpenChange={(next) => setOpen(next ? 'shortcuts' : undefined)} />
    </div>
  )
}
