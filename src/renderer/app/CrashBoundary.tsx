import { Bug, RotateCw } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'

type CrashBoundaryProps = { children: ReactNode }
type CrashBoundaryState = { crash: { failure: unknown } | undefined }

/** Contains rendering errors of a view. The rest of the window and all sandboxes continue to run. */
export class CrashBoundary extends Component<CrashBoundaryProps, CrashBoundaryState> {
  override state: CrashBoundaryState = { crash: undefined }

  static getDerivedStateFromError(error: unknown): CrashBoundaryState {
    return { crash: { failure: error } }
  }

  override render(): ReactNode {
    if (!this.state.crash) return this.props.children
    const { failure } = this.state.crash
    return (
      <EmptyState
        icon={Bug}
        title="This view crashed"
        description="This is a bug in Steward. Your sandboxes are not affected."
        actions={
          <>
            <Button variant="primary" icon={RotateCw} onClick={() => window.location.reload()}>
              Reload window
            </Button>
            <Button onClick={() => this.setState({ crash: undefined })}>Try again</Button>
          </>
        }
      >
        <h3 className="font-medium text-text">To report it</h3>
        <pre className="mt-2 max-h-40 overflow-auto rounded-control border border-line bg-panel p-2.5 font-mono text-small whitespace-pre-wrap select-text">
          {failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)}
        </pre>
      </EmptyState>
    )
  }
}
