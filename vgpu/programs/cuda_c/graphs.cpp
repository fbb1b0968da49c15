// Graphs: captured from a stream, or made node by node.
#include "runtime.h"

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return call("capture_begin", stream, mode);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) { return call("capture_end", stream, graph); }
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    return call("is_capturing", stream, status);
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned) { return call("graph_create", graph); }
cudaError_t cudaGraphClone(cudaGraph_t *made, cudaGraph_t graph) { return call("graph_clone", made, graph); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return call("graph_destroy", graph); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long) {
    return call("graph_clone", made, graph);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long) {
    return call("graph_clone", made, graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) { return call("graph_destroy", made); }
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) { return call("graph_launch", made, stream); }
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *found) {
    long changed = 0;
    cudaError_t status = call("graph_update", made, graph, &changed);
    memset(found, 0, sizeof *found);
    if (changed) found->result = cudaGraphExecUpdateErrorTopologyChanged;
    return changed ? cudaErrorGraphExecUpdateFailure : status;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return call("graph_nodes", graph, nodes, count, 0);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return call("graph_nodes", graph, nodes, count, 1);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *, size_t count) {
    return call("graph_depend", graph, from, to, count);
}

// A node is captured from a stream that has nothing else: what its operation is, cuda… calls say.
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaKernelNodeParams *of) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    auto status = cudaLaunchKernel(of->func, of->gridDim, of->blockDim, of->kernelParams, of->sharedMemBytes, stream);
    return call("node_end", stream, status, node, graph, after, count);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t made, cudaGraphNode_t node, const cudaKernelNodeParams *of) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    auto status = cudaLaunchKernel(of->func, of->gridDim, of->blockDim, of->kernelParams, of->sharedMemBytes, stream);
    return call("node_replace", stream, status, node, made);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaMemcpy3DParms *of) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    return call("node_end", stream, cudaMemcpy3DAsync(of, stream), node, graph, after, count);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    return call("node_end", stream, cudaMemcpyAsync(to, from, n, kind, stream), node, graph, after, count);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaMemsetParams *of) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    size_t bytes = of->width * of->elementSize, pitch = of->height > 1 ? of->pitch : bytes;
    unsigned value = of->value;
    bool same = of->elementSize == 1 || value == (value & 0xff) * (of->elementSize == 2 ? 0x101u : 0x1010101u);
    auto status = same ? cudaMemset2DAsync(of->dst, pitch, value & 0xff, bytes, of->height, stream)
                       : cudaErrorNotSupported;  // a pattern of several bytes
    return call("node_end", stream, status, node, graph, after, count);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 const cudaHostNodeParams *of) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    return call("node_end", stream, cudaLaunchHostFunc(stream, of->fn, of->userData), node, graph, after, count);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count) {
    cudaStream_t stream;
    if (auto status = call("node_begin", &stream)) return status;
    return call("node_end", stream, cudaSuccess, node, graph, after, count);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, cudaGraph_t child) {
    return call("node_child", node, graph, after, count, child);
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *, size_t count, cudaGraphNodeParams *of) {
    switch (of->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphAddKernelNode(node, graph, after, count, (cudaKernelNodeParams *)&of->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(node, graph, after, count, &of->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphAddMemsetNode(node, graph, after, count, (cudaMemsetParams *)&of->memset);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(node, graph, after, count, (cudaHostNodeParams *)&of->host);
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(node, graph, after, count, of->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, after, count);
    default: return call("node_unknown", of->type);
    }
}
}
