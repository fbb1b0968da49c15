def read_losses(batches, loss_of, out):
    found = []
    for batch in batches:
        loss = cp.empty(1, dtype="float32")
        loss_of((1,), (32,), (batch, np.int32(batch.size), loss))
        found.append(loss)
    stream = cp.cuda.get_current_stream()
    for k, loss in enumerate(found):
        loss.get(stream, out=out[k : k + 1], blocking=False)
    stream.synchronize()
